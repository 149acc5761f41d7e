#include "advice/adviser.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/owned_folder.h"
#include "core/wall_clock.h"
#include "sched/online_policy.h"
#include "workload/history_file.h"

namespace allot {
namespace {

constexpr Seconds kPastEvery = 3600;
constexpr Seconds kWeek = 7 * 86400.0;
constexpr const char* kAuditName = "advice.jsonl";
constexpr const char* kWorthName = "worth.jsonl";
constexpr const char* kMetricsName = "worth.prom";
constexpr const char* kLockName = "advice.lock";

std::unique_ptr<FileLock> LockFor(Adviser::Records records, const std::filesystem::path& state) {
  if (records == Adviser::Records::kNone) return nullptr;
  OwnedFolder::OpenOrMake(state).CloseToOthers();
  return std::make_unique<FileLock>(state / kLockName, "one adviser records in a state folder");
}

// Jobs come forward first. Then the last of the advised order goes behind all others, and so on: so
// at any time those that were written stand as advised, behind the others as the scheduler has
// them.
bool IsMoreUseful(const AdvisedChange& a, const AdvisedChange& b) {
  const bool forward = a.change.after < a.change.before;
  if (forward != (b.change.after < b.change.before)) return forward;
  return forward ? a.advised < b.advised : a.advised > b.advised;
}

}  // namespace

Adviser::Adviser(std::unique_ptr<AdviceTarget> target, AdviceOptions options,
                 const std::filesystem::path& state, Records records)
    : target_(std::move(target)),
      options_(std::move(options)),
      state_(state),
      lock_(LockFor(records, state)),
      audit_(state / kAuditName) {
  (void)MakeOnlinePolicy(options_.policy, FileLoader());
  if (records == Records::kWritesAndWorth) worth_.emplace(state / kWorthName);
}

void Adviser::LeaveAlone(AdvisedQueue* queue) const {
  for (QueuedJob& job : queue->waiting) {
    if (!job.left_alone.empty()) continue;
    const auto found = audit_.traces().find(job.id);
    // A job of another time that has got this number has no trace.
    const bool traced = found != audit_.traces().end() &&
                        (found->second.MayHaveLeft(job.nice) || found->second.submit == job.submit);
    if (traced && !found->second.MayHaveLeft(job.nice)) {
      job.left_alone = "somebody else changed its Nice";
    } else if (!traced && job.nice != 0) {
      job.left_alone = "has a Nice of its own";
    }
  }
}

void Adviser::AddChanges(const AdvisedQueue& queue, const AdvisedOrder& order,
                         Advice* advice) const {
  std::map<std::size_t, std::size_t> own_place;
  for (std::size_t place = 0; place < order.own.size(); ++place) {
    own_place[order.own[place]] = place + 1;
  }
  const std::size_t places = order.advised.size();
  for (std::size_t place = 0; place < places; ++place) {
    const std::size_t j = order.advised[place];
    const QueuedJob& job = queue.waiting[j];
    if (order.nice[j] == job.nice) continue;
    AdvisedChange change;
    change.queue = queue.name;
    change.waits = advice->now - job.submit;
    change.own = own_place[j];
    change.advised = place + 1;
    change.change = {.job = job.id,
                     .user = job.user,
                     .before = job.nice,
                     .after = order.nice[j],
                     .submit = job.submit,
                     .why = fmt::format("advised place {} of {} in {}, own place {}",
                                        change.advised, places, queue.name, change.own)};
    advice->changes.push_back(std::move(change));
  }
}

Advice Adviser::Advise() {
  AdviceSnapshot snapshot = target_->Read();
  audit_.ForgetAllBut(snapshot.jobs);
  if (!past_read_ || snapshot.now >= *past_read_ + kPastEvery) {
    no_past_.clear();
    past_ = target_->Past(&no_past_);
    past_read_ = snapshot.now;
  }
  Advice advice;
  advice.now = snapshot.now;
  for (AdvisedQueue& queue : snapshot.queues) {
    LeaveAlone(&queue);
    const auto policy = MakeOnlinePolicy(options_.policy, FileLoader());
    QueueAdvice of_queue{.queue = queue.name, .waiting = queue.waiting.size()};
    for (const QueuedJob& job : queue.waiting) {
      if (!job.left_alone.empty()) ++of_queue.left_alone[job.left_alone];
    }
    of_queue.order = OrderQueue(queue, snapshot.now, past_, *policy, options_.most_nice);
    AddChanges(queue, of_queue.order, &advice);
    if (worth_) worth_->See(queue, of_queue.order, snapshot.now);
    advice.queues.push_back(std::move(of_queue));
  }
  std::stable_sort(advice.changes.begin(), advice.changes.end(), IsMoreUseful);
  if (worth_) {
    worth_->SeeStarts(snapshot.jobs);
    WriteTextFile(state_ / kMetricsName,
                  WorthMetrics(worth_->Between(snapshot.now - kWeek, snapshot.now)));
  }
  return advice;
}

// One refused job stops no others, but a scheduler that refuses so many in a row is not asked any
// more.
Status Adviser::SetNice(const NiceChange& change) {
  constexpr int kMostRefused = 10;
  audit_.Intend(change, WallSeconds());
  Status done = target_->SetNice(change.job, change.after);
  if (done.ok()) {
    audit_.Done(change, WallSeconds());
    refused_in_a_row_ = 0;
    return done;
  }
  Status refused = Status::Refused("Nice {} of job {} of user {} is not written: {}", change.after,
                                   change.job, change.user, done.message());
  if (++refused_in_a_row_ < kMostRefused) return refused;
  refused_in_a_row_ = 0;
  throw RunError("{} in a row are refused; the last: {}", kMostRefused, refused.message());
}

Written Adviser::Write(const Advice& advice) {
  constexpr Seconds kMinute = 60;
  Written written;
  const int left = options_.writes_per_minute - audit_.ChangesSince(WallSeconds() - kMinute);
  const int count = std::clamp(left, 0, static_cast<int>(advice.changes.size()));
  if (count == 0) return written;
  const Status may = target_->MayWrite();
  if (!may.ok()) throw RunError("nothing is written: {}", may.message());
  for (int c = 0; c < count; ++c) {
    const Status done = SetNice(advice.changes[static_cast<std::size_t>(c)].change);
    if (done.ok()) ++written.values;
    if (!done.ok()) written.refused.push_back(done.message());
  }
  return written;
}

WorthReport Adviser::WorthOfWeek(const std::filesystem::path& state, Seconds now) {
  return AdviceWorth(state / kWorthName).Between(now - kWeek, now);
}

bool Adviser::HasWritten(const std::filesystem::path& state) {
  std::error_code error;
  return std::filesystem::exists(state / kAuditName, error);
}

Undone Adviser::Undo() {
  const AdviceSnapshot snapshot = target_->Read();
  Undone undone;
  const std::map<std::string, AdviceAudit::Trace> traces = audit_.traces();
  for (const auto& [id, trace] : traces) {
    const auto job = snapshot.jobs.find(id);
    if (job == snapshot.jobs.end()) {
      ++undone.over;
    } else if (job->second.nice == trace.original) {
      ++undone.as_before;
    } else if (!trace.MayHaveLeft(job->second.nice)) {
      if (trace.submit == job->second.submit) undone.others_nice.push_back(id);
    } else {
      const Status done = SetNice({.job = id,
                                   .user = trace.user,
                                   .before = job->second.nice,
                                   .after = trace.original,
                                   .submit = job->second.submit,
                                   .why = "undo"});
      if (done.ok()) ++undone.restored;
      if (!done.ok()) undone.refused.push_back(done.message());
    }
  }
  return undone;
}

}  // namespace allot
