#include "live/runtime_reader.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/index.h"
#include "core/natural_order.h"
#include "live/job_options.h"

namespace allot {
namespace {

constexpr Seconds kAccountEvery = 30;  // service of jobs into the journal

// Its user has corrected it while it was held: mostly what could not be understood before.
bool IsAskedAnew(const LiveJob& job, const RuntimeJob& seen) {
  return job.asked->state == JobState::kHeld && seen.state != JobState::kHeld && job.running < 0 &&
         job.worker_group.idle() && !seen.over() && !AskTheSame(*job.asked, seen);
}

// As the runtime shows it now, but with the options that the job has.
std::shared_ptr<const RuntimeJob> Following(const RuntimeJob& asked,
                                            const std::shared_ptr<const RuntimeJob>& seen) {
  if (AskTheSame(asked, *seen)) return seen;
  RuntimeJob now = *seen;
  KeepJobOptions(asked, &now);
  now.preempt = seen->preempt;  // what its user allows counts at once
  return std::make_shared<const RuntimeJob>(std::move(now));
}

}  // namespace

RuntimeReader::RuntimeReader(Runtime& runtime, StateWriter& writer, LiveCounts& counts,
                             bool dry_run)
    : runtime_(runtime),
      writer_(writer),
      state_(writer.state()),
      counts_(counts),
      dry_run_(dry_run),
      accounted_(writer.now()) {}

bool RuntimeReader::Read(const RuntimeSnapshot& snapshot) {
  bool event = ReadNodes(snapshot);
  if (state_.nodes().empty()) return event;  // jobs' tables are made for nodes: they wait for one
  event = ReadJobs(snapshot) || event;
  return ReadWorkers(snapshot) || event;
}

// ---- nodes ----

bool RuntimeReader::ReadNodes(const RuntimeSnapshot& snapshot) {
  const auto same = [](const RuntimeNode& a, const RuntimeNode& b) {
    return a.name == b.name && a.up == b.up && a.drained == b.drained && a.taken == b.taken;
  };
  if (std::equal(snapshot.nodes.begin(), snapshot.nodes.end(), state_.nodes().begin(),
                 state_.nodes().end(), same)) {
    return false;
  }
  for (const RuntimeNode& node : snapshot.nodes) {
    const NodeIndex known = state_.NodeOf(node.name);
    if (known >= 0 && state_.nodes()[At(known)].up != node.up) {
      spdlog::info("node {} is {}", node.name, node.up ? "up" : node.drained ? "drained" : "down");
    }
  }
  // One that the runtime no longer names is down.
  std::vector<RuntimeNode> nodes = snapshot.nodes;
  for (const RuntimeNode& known : state_.nodes()) {
    const bool named = std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(),
                                   [&](const RuntimeNode& n) { return n.name == known.name; });
    if (named) continue;
    nodes.push_back(known);
    nodes.back().up = nodes.back().drained = false;
  }
  writer_.Write("nodes", record::Nodes(nodes));
  return true;
}

// ---- jobs ----

bool RuntimeReader::ReadJobs(const RuntimeSnapshot& snapshot) {
  bool event = false;
  JobList settled;
  settled.reserve(snapshot.jobs.size());
  JobList others;
  for (const auto& job : snapshot.jobs) {
    const bool known = std::binary_search(settled_.begin(), settled_.end(), job);
    (known ? settled : others).push_back(job);
  }
  // In order of submission, so that indices are. Runtimes know the second: of one, by number.
  std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) {
    return a->submit != b->submit ? a->submit < b->submit : NaturalOrder()(a->id, b->id);
  });
  for (const auto& seen : others) {
    if (ReadJob(seen, &event)) settled.push_back(seen);
  }
  std::sort(settled.begin(), settled.end());
  settled_ = std::move(settled);
  const auto& active = state_.job_table().active();
  const auto left =
      std::count_if(active.begin(), active.end(), [](const LiveJob* job) { return !job->over; });
  const bool all_listed = left == std::ssize(settled_);
  return (!all_listed && EndUnlisted(snapshot)) || event;
}

// True when the job is not over: then the record need not be read again.
bool RuntimeReader::ReadJob(const std::shared_ptr<const RuntimeJob>& record, bool* event) {
  const RuntimeJob& seen = *record;
  LiveJob* job = state_.job_table().Find(seen.id);
  if (job == nullptr) {
    if (seen.over()) {  // of the time before the journal
      runtime_.Forget(seen.id);
      return false;
    }
    job = AddJob(seen);
    *event = true;
  }
  if (job->over) {
    if (job->worker_group.idle()) runtime_.Forget(seen.id);
    return false;
  }
  if (IsAskedAnew(*job, seen)) {
    EndJob(*job, JobState::kCancelled, "its user has changed it");
    writer_.Write("retire", {{"job", seen.id}});
    job = AddJob(seen);
  }
  job->worker_group.SetSettling(seen.settling);
  const JobState before = job->asked->state;
  job->asked = Following(*job->asked, record);
  if (seen.over()) {
    EndJob(*job, seen.state, seen.reason);
    *event = true;
    return false;
  }
  if (before != seen.state) {
    if (seen.state == JobState::kHeld && job->running >= 0 && !job->pinned()) {
      writer_.Write("take", {{"job", seen.id}, {"why", "it is held"}});
    }
    *event = true;
  }
  return true;
}

bool RuntimeReader::EndUnlisted(const RuntimeSnapshot& snapshot) {
  std::set<std::string_view> listed;
  for (const auto& job : snapshot.jobs) listed.insert(job->id);
  bool event = false;
  const std::vector<LiveJob*> active = state_.job_table().active();
  for (LiveJob* job : active) {
    if (job->over || listed.contains(job->asked->id)) continue;
    EndJob(*job, JobState::kCancelled, "the runtime no longer lists it");
    event = true;
  }
  return event;
}

LiveJob* RuntimeReader::AddJob(const RuntimeJob& seen) {
  const Seconds submit = std::clamp(seen.submit - writer_.origin(), 0.0, writer_.now());
  const Seconds deadline = seen.deadline == kNever ? kNever : seen.deadline - writer_.origin();
  JournalRecord asked = record::Job(seen, submit, deadline);
  asked["profile"] = state_.job_table().ProfileOf(seen.model);
  writer_.Write("job", std::move(asked));
  LiveJob* job = state_.job_table().Find(seen.id);
  if (seen.state == JobState::kHeld) {
    spdlog::info("job {} of {} is held: {}", seen.id, seen.user, seen.reason);
  } else if (job->fits) {
    spdlog::info("job {} of {}: {} to {} GPUs of {}, model '{}'", seen.id, seen.user, seen.min_gpus,
                 seen.max_gpus, seen.gpu_types.empty() ? "any type" : seen.gpu_types, seen.model);
  } else {
    spdlog::warn("job {} waits for another cluster: {}", seen.id, job->unfit);
  }
  return job;
}

void RuntimeReader::EndJob(LiveJob& job, JobState state, const std::string& reason) {
  if (state == JobState::kFinished && job.asked->mode == ResizeMode::kHot && job.running >= 0 &&
      job.worker_group.membership().epoch < 0) {
    spdlog::warn(
        "job {} has ended before any of its workers joined: it was given {} GPUs and used none",
        job.asked->shown(), job.given());
  }
  job.progress = runtime_.Progress(job.asked->id);  // its last report
  writer_.Write("over", {{"job", job.asked->id},
                         {"state", JobStateName(state)},
                         {"reason", reason},
                         {"step", job.progress.step},
                         {"work", job.progress.work},
                         {"gpu_seconds", job.attained_gpu_seconds},
                         {"run_time", state_.job_table().RunTime(job)}});
  counts_.AddEnd(state);
  job.changing_since = kNever;
  spdlog::info("job {} {} after {:.1f} s{}{}", job.asked->id, JobStateName(state),
               writer_.now() - job.submit, reason.empty() ? "" : ": ", reason);
}

// ---- progress ----

void RuntimeReader::Measure(Seconds before, Seconds now) {
  const bool account = now - accounted_ > kAccountEvery;
  if (account) accounted_ = now;
  for (LiveJob* job : state_.job_table().active()) {
    if (job->over) continue;
    const std::string& id = job->asked->id;
    if (state_.job_table().Update(*job, runtime_.Progress(id), before, now)) {
      const Configuration& c = (*job->table)[job->running];
      const std::string& type = state_.job_table().nominal().types()[At(c.gpu_type)];
      writer_.Note(now, "rate",
                   {{"job", id},
                    {"type", type},
                    {"gpus", c.demand.gpus},
                    {"nodes", TextOf(c.span)},
                    {"rate", job->fit.Rate(c.demand.gpus, type, c.span)}});
    }
    if (account && job->attained_gpu_seconds > 0) {
      writer_.Note(now, "account",
                   {{"job", id},
                    {"step", job->progress.step},
                    {"work", job->progress.work},
                    {"gpu_seconds", job->attained_gpu_seconds},
                    {"seconds", job->attained_seconds}});
    }
    if (job->changing_since == kNever || !job->worker_group.training(job->progress)) continue;
    const Seconds took = writer_.now() - std::exchange(job->changing_since, kNever);
    writer_.Write("trains", {{"job", id},
                             {"epoch", job->worker_group.membership().epoch},
                             {"workers", job->worker_group.workers().size()},
                             {"step", job->progress.step},
                             {"took", took}});
    counts_.AddResize(took);
  }
}

}  // namespace allot
