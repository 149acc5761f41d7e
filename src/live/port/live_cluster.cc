#include "live/port/live_cluster.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/cpu_time.h"
#include "core/error.h"
#include "core/index.h"
#include "core/interrupt.h"
#include "core/strings.h"
#include "core/wall_clock.h"
#include "live/port/limited_sizes.h"
#include "live/port/live_rules.h"
#include "live/port/node_limits.h"
#include "live/port/rule_warnings.h"
#include "live/state/records_json.h"

namespace allot {
namespace {

// Whether all of `old` is in `shares`.
bool Holds(std::span<const NodeShare> shares, std::span<const NodeShare> old) {
  return std::all_of(old.begin(), old.end(), [&](const NodeShare& one) {
    return std::any_of(shares.begin(), shares.end(), [&](const NodeShare& other) {
      return other.node == one.node && (one.gpus & ~other.gpus) == 0;
    });
  });
}

}  // namespace

LiveCluster::LiveCluster(Runtime& runtime, Journal* journal, const LiveClock& clock,
                         LiveOptions options, const std::vector<TimedRecord>& past,
                         std::optional<RuntimeSnapshot> first)
    : runtime_(runtime),
      clock_(clock),
      options_(std::move(options)),
      state_(options_.job_table),
      writer_(&state_, journal, clock),
      reader_(runtime, writer_, counts_, options_.dry_run),
      starts_(writer_, counts_),
      workers_(runtime, writer_, counts_),
      batches_(runtime, writer_),
      guarantees_(options_.job_table.rules),
      first_(std::move(first)) {
  for (std::size_t i = 0; i < past.size(); ++i) {
    try {
      state_.Apply(past[i]);
    } catch (const std::exception& error) {
      throw DataError(
          "record {} of the journal, '{}', says what cannot be: {}; 'allot journal "
          "repair' leaves it out",
          i + 1, KindOf(past[i].record), error.what());
    }
  }
  reader_.SetJournalEnd(state_.last());
  const auto& rules = options_.job_table.rules;
  if (rules != nullptr) windows_ = MaintenanceWindows(rules->maintenance());
  view_.Refresh(state_, {});
  observation_.cluster = &view_.cluster();
  observation_.interval = options_.interval;
  observation_.share_begin.assign(1, 0);
  observation_.decision = -1;
  polled_at_ = clock_.Now();
  for (const LiveJob* job : state_.job_table().active()) {
    state_.job_table().WorkersOf(*job).ExpectAll(polled_at_);
  }
}

Status LiveCluster::Validate(const Allocation& allocation) const {
  return ValidateLiveAllocation(observation_, allocation);
}

// ---- decisions ----

ApplyReport LiveCluster::Apply(const Allocation& allocation) {
  ApplyReport report;
  if (applied_ == observation_.decision) return report;
  report.refused = Validate(allocation);
  return report.refused.ok() ? ApplyValidated(allocation) : report;
}

ApplyReport LiveCluster::ApplyValidated(const Allocation& answer) {
  ApplyReport report;
  if (applied_ == observation_.decision) return report;
  applied_ = observation_.decision;
  const Allocation& allocation = guarantees_.Kept(observation_, state_.job_table(), answer);
  if (guarantees_.put_right()) ++counts_.put_right;
  batches_.KeepRequested(allocation.requested_batches());

  const auto& jobs = state_.job_table().jobs();
  std::vector<GivenPlace> places;
  for (const Allocation::Entry& entry : allocation.entries()) {
    places.push_back(
        {&jobs.at(entry.job), view_.Meant(allocation.shares(entry)), entry.configuration});
  }
  KeepToTheirNodes(state_, view_.givable(), windows_.Near(state_.nodes(), clock_.Wall()), &places);
  struct Given {
    const Allocation::Entry* entry = nullptr;  // null: nothing
    const GivenPlace* place = nullptr;
  };
  std::unordered_map<JobIndex, Given> given;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Allocation::Entry& entry = allocation.entries()[i];
    if (!places[i].placed) starts_.NoPlace(*places[i].job, places[i].why);
    if (!places[i].shares.empty()) given[entry.job] = {&entry, &places[i]};
  }
  const auto given_to = [&given](JobIndex job) {
    const auto found = given.find(job);
    return found == given.end() ? Given{} : found->second;
  };
  const std::string why = fmt::format("decision {}{}", observation_.decision,
                                      guarantees_.put_right() ? " with guaranteed shares" : "");
  const auto change = [&](const LiveJob& job, JournalRecord record) {
    if (options_.dry_run) {
      spdlog::info("would {} {}", KindOf(record), FieldsText(record));
      return;
    }
    writer_.Write(std::move(record));
    if (!job.changing_since) state_.job_table().SetChangingSince(job, clock_.Now());
  };
  // Those that give first, so that a crash in between leaves no GPU given twice.
  for (const JobIndex index : observation_.job) {
    const LiveJob& job = jobs.at(index);
    if (job.running < 0 || given_to(index).entry != nullptr) continue;
    ++report.preempted;
    ++counts_.takes;
    change(job, record::Take{job.asked->id, why});
  }
  for (const JobIndex index : observation_.job) {
    const auto [entry, place] = given_to(index);
    if (entry == nullptr || !place->placed) continue;
    const LiveJob& job = jobs.at(index);
    const std::vector<NodeShare>& shares = place->shares;
    const bool same_place =
        std::equal(shares.begin(), shares.end(), job.shares.begin(), job.shares.end());
    if (place->configuration == job.running && same_place) continue;
    // It keeps what it has. While it waits it is hidden, so that it runs here.
    if (!starts_.may_grow(job) && Holds(shares, job.shares)) continue;
    ++(job.running < 0                       ? report.launched
       : place->configuration != job.running ? report.resized
                                             : report.moved);
    ++counts_.gives;
    const std::string key =
        job.table->KeyText(place->configuration, state_.job_table().nominal().types());
    record::Give give{job.asked->id, state_.Named(key, shares), why};
    if (entry->share > 0) give.time_share = entry->share;
    change(job, std::move(give));
  }
  if (!options_.dry_run && report.launched + report.preempted + report.resized + report.moved > 0) {
    writer_.Write(record::Decide{observation_.decision, report.launched, report.preempted,
                                 report.resized, report.moved});
    workers_.Advance();
    Refresh(false);
  }
  return report;
}

void LiveCluster::Pause() { writer_.Write(record::Pause{}); }

void LiveCluster::Resume() {
  writer_.Write(record::Resume{});
  event_ = true;
}

void LiveCluster::Drain() {
  writer_.Write(record::Drain{});
  event_ = true;
}

void LiveCluster::Undrain() {
  writer_.Write(record::Undrain{});
  event_ = true;
}

void LiveCluster::CheckNode(const std::string& node) const {
  if (state_.NodeOf(node) >= 0) return;
  std::vector<std::string> names;
  names.reserve(state_.nodes().size());
  for (const RuntimeNode& known : state_.nodes()) names.push_back(known.name);
  throw UsageError("unknown node '{}'{}", node, DidYouMean(node, names));
}

void LiveCluster::DrainNode(const std::string& node) {
  CheckNode(node);
  writer_.Write(record::Drain{node});
  event_ = true;
}

void LiveCluster::UndrainNode(const std::string& node) {
  if (!state_.drained_nodes().contains(node)) CheckNode(node);  // one that is gone may be named
  writer_.Write(record::Undrain{node});
  event_ = true;
}

void LiveCluster::Cancel(const std::string& name) {
  const std::string job = state_.job_table().IdOf(name);
  if (options_.dry_run) throw RunError("a dry run cancels no job: ask the daemon in charge");
  writer_.Write(record::Cancel{job});
  writer_.Commit();
  const Status done = AskRuntime([&] { return runtime_.Cancel(job); });
  if (!done.ok()) throw RunError("{}", done.message());
  event_ = true;
}

// ---- waiting ----

bool LiveCluster::Over() const {
  if (Interrupted()) return true;
  return options_.until_idle && polled_ && !more_ && state_.job_table().active().empty();
}

bool LiveCluster::WaitForJobs() { return WaitForChange(0); }

bool LiveCluster::WaitForChange(Seconds holds_until) {
  holds_until = guarantees_.put_right() ? 0 : std::min(holds_until, next_release_);
  const Seconds interval = options_.interval;
  const Seconds begin = clock_.Now();
  const Seconds next = (std::floor(begin / interval) + 1) * interval;
  const Seconds tick =
      holds_until == kNever ? kNever : std::max(next, std::ceil(holds_until / interval) * interval);
  while (!Over()) {
    if (polled_) {
      const Seconds left = tick - clock_.Now();  // gone by where there is nothing to decide
      const Seconds pause = std::max(options_.poll, pace_.PauseAt(clock_.Now()));
      runtime_.Wait(left > 0 ? std::min(pause, std::max(left, 1e-3)) : pause);
    }
    const Seconds used = ThreadCpuSeconds();
    const bool event = PollRuntime();
    event_ = event || event_;
    pace_.CountPoll(clock_.Now(), ThreadCpuSeconds() - used, event);
    const bool due = (options_.decide_on_events && event_) || clock_.Now() >= tick;
    if (on_poll_) on_poll_();
    RenewJournal();
    if (!due || state_.paused()) continue;
    Refresh(true);
    if (observation_.rows() > 0) {
      event_ = false;
      return true;
    }
  }
  Refresh(false);
  return false;
}

void LiveCluster::RenewJournal() {
  if (!writer_.journal_is_long()) return;
  writer_.Commit();  // a record that is not on disk is more than a warning
  try {
    writer_.RenewJournal();
  } catch (const std::exception& error) {  // the old one goes on
    spdlog::warn("the journal cannot be compacted now, will retry: {}", error.what());
    writer_.PostponeRenewal();
  }
}

bool LiveCluster::Hidden(const LiveJob& job) const {
  if (job.over || !job.fits() || job.asked->state == JobState::kHeld || job.fixed()) return true;
  if (starts_.rests(job) || job.beyond) return true;
  return state_.drained() && job.running < 0;
}

void LiveCluster::WarnOfRules() const {
  const auto& rules = options_.job_table.rules;
  if (rules == nullptr) return;
  for (const std::string& one :
       RuleWarnings(*rules, state_.nodes(), state_.job_table().nominal())) {
    spdlog::warn("rules: {}", one);
  }
}

// Of what is wrong with their jobs: where users look, it is not in the daemon's status.
void LiveCluster::TellUsers() {
  for (const LiveJob* job : state_.job_table().active()) {
    if (job->over || job->asked->state == JobState::kHeld) {
      state_.job_table().SetExplained(*job, std::nullopt);
      continue;
    }
    const bool runs = job->running >= 0;
    const std::string late = job->worker_group.lateness();
    const std::string wrong = runs ? late : job->unfit.value_or("");
    if (job->explained == wrong) continue;
    if (runs && !late.empty()) spdlog::warn("job {}: {}", job->asked->shown(), late);
    runtime_.Explain(job->asked->id,
                     wrong.empty() ? std::nullopt : std::optional(JobTrouble{wrong, runs}));
    state_.job_table().SetExplained(*job, wrong);
  }
}

// True where a maintenance window begins or ends.
bool LiveCluster::FollowWindows() {
  if (windows_.none() && state_.maintained_nodes().empty()) return false;
  const double unix_time = clock_.Wall();
  std::set<std::string> drained;
  for (const RuntimeNode& node : state_.nodes()) {
    if (windows_.Drains(node.name, unix_time)) drained.insert(node.name);
  }
  if (drained == state_.maintained_nodes()) return false;
  spdlog::info("in maintenance: {}",
               drained.empty() ? "no node" : fmt::format("{}", fmt::join(drained, ", ")));
  writer_.Write(record::MaintainedNodes{drained});
  return true;
}

// Of which policies see only what decisions gave.
std::set<NodeIndex> LiveCluster::ClosedNodes() const {
  std::set<NodeIndex> closed = windows_.Near(state_.nodes(), clock_.Wall());
  closed.insert(starts_.avoided().begin(), starts_.avoided().end());
  return closed;
}

void LiveCluster::FindHolds() {
  next_release_ = kNever;
  for (const LiveJob* job : state_.job_table().active()) {
    const bool runs = job->running >= 0 && !job->over;
    state_.job_table().SetHold(*job,
                               runs ? job->history.HoldOf(job->rules, observation_.now) : Hold{});
    if (job->hold) next_release_ = std::min(next_release_, job->hold.until);
  }
}

void LiveCluster::Refresh(bool next_decision) {
  observation_.now = std::max(observation_.now, clock_.Now());
  FindHolds();
  if (next_decision) ShareLimits(limits_, starts_, &state_.job_table());
  if (next_decision) ++observation_.decision;
  state_.job_table().Observe([this](const LiveJob& job) { return Hidden(job); }, &observation_);
  view_.Refresh(state_, ClosedNodes());
  view_.Show(&observation_);
  if (next_decision) {
    state_.job_table().FindEvents(&observation_);
  } else {
    observation_.events = {};
  }
}

bool LiveCluster::PollRuntime() {
  ++counts_.polls;
  RuntimeSnapshot snapshot;
  try {
    snapshot = first_ ? *std::exchange(first_, std::nullopt) : runtime_.TakeSnapshot();
  } catch (const std::exception& error) {
    ++counts_.failed_polls;
    if (unreachable_reason_ != error.what()) {
      spdlog::warn("runtime unreachable, making no changes until it answers: {}", error.what());
    }
    unreachable_reason_ = error.what();
    // Workers report to the daemon itself: jobs train on.
    if (polled_) {
      const Seconds before = std::exchange(polled_at_, clock_.Now());
      reader_.Measure(before, polled_at_);
    }
    return false;
  }
  counts_.last_poll_at = WallSeconds();
  if (!unreachable_reason_.empty()) spdlog::info("runtime answers again");
  if (!polled_ || !unreachable_reason_.empty()) answers_since_ = clock_.Now();
  unreachable_reason_.clear();
  const Seconds before = std::exchange(polled_at_, clock_.Now());
  more_ = snapshot.more;
  bool event = reader_.Read(snapshot);
  event = std::exchange(limits_, snapshot.limits) != snapshot.limits || event;
  if (!std::exchange(polled_, true)) {
    WarnOfRules();
    if (!options_.dry_run) workers_.RepeatAnnouncements();
  }
  event = FollowWindows() || event;
  reader_.FollowPlaces();
  event = reader_.ReleaseLostGpus() || event;
  event = (!options_.dry_run && starts_.Withdraw(answers_since_)) || event;
  reader_.Measure(before, polled_at_);
  batches_.RecordMeasurements();
  if (!options_.dry_run) {
    batches_.SendBatches();
    workers_.Advance();
    TellUsers();
  }
  return event;
}

void LiveCluster::StopAllJobs(Seconds at_most) {
  Pause();
  const std::vector<const LiveJob*> active = state_.job_table().active();
  for (const LiveJob* job : active) {
    if (job->running < 0 || job->pinned()) continue;
    writer_.Write(record::Take{job->asked->id, "the daemon ends"});
  }
  const Seconds begin = clock_.Now();
  while (clock_.Now() - begin < at_most) {
    PollRuntime();
    const auto& now_active = state_.job_table().active();
    if (std::all_of(now_active.begin(), now_active.end(),
                    [](const LiveJob* job) { return job->pinned() || job->worker_group.idle(); })) {
      return;
    }
    runtime_.Wait(options_.poll);
  }
}

}  // namespace allot
