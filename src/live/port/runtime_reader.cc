#include "live/port/runtime_reader.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/index.h"
#include "core/natural_order.h"
#include "live/runtimes/job_options.h"
#include "live/runtimes/worker_end.h"

namespace allot {
namespace {

constexpr Seconds kAccountEvery = 30;  // service of jobs into the journal

// Its user has corrected it while it was held: mostly what could not be understood before.
bool IsAskedAnew(const LiveJob& job, const RuntimeJob& seen) {
  return job.asked->state == JobState::kHeld && seen.state != JobState::kHeld && job.running < 0 &&
         job.worker_group.idle() && !seen.over() && !AskTheSame(*job.asked, seen);
}

// As the runtime shows it now, but with the options that the job has. A counted job whose last pods
// are fewer than its minimum goes on with these.
std::shared_ptr<const RuntimeJob> Following(const RuntimeJob& asked,
                                            const std::shared_ptr<const RuntimeJob>& seen) {
  const bool ends =
      seen->mode == ResizeMode::kCount && seen->at_most && seen->at_most->gpus < asked.min_gpus;
  if (!ends && AskTheSame(asked, *seen)) return seen;
  RuntimeJob now = *seen;
  KeepJobOptions(asked, &now);
  now.preempt = seen->preempt;  // what its user allows counts at once
  if (ends) now.min_gpus = std::max(1, seen->at_most->gpus);
  return std::make_shared<const RuntimeJob>(std::move(now));
}

// Where nobody has asked for them.
HeldGpus PlacedByCount(const LiveState& state) {
  HeldGpus placed(state.nodes().size(), 0);
  for (const LiveJob* job : state.job_table().active()) {
    if (job->asked->mode != ResizeMode::kCount) continue;
    for (const LiveWorker& worker : job->worker_group.workers()) {
      placed[At(worker.node)] |= worker.gpus;
    }
  }
  return placed;
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
  std::vector<RuntimeNode> changed;
  std::vector<bool> named(state_.nodes().size(), false);
  for (const RuntimeNode& shown : snapshot.nodes) {
    const NodeIndex index = state_.NodeOf(shown.name);
    if (index < 0) {
      changed.push_back(shown);
      continue;
    }
    named[At(index)] = true;
    const RuntimeNode& known = state_.nodes()[At(index)];
    RuntimeNode node = NodeFrom(shown, known);
    if (node == known) continue;
    if (node.up() != known.up()) spdlog::info("node {} is {}", node.name, NameOf(node.state));
    if (node.closed && !known.closed) {
      spdlog::warn(
          "node {} has lost GPUs{}: its workers go on, and no others start there", node.name,
          shown.closed
              ? ""
              : fmt::format(" ({} of {} are left)", shown.capacity.gpus, known.capacity.gpus));
    }
    changed.push_back(std::move(node));
  }
  for (std::size_t n = 0; n < named.size(); ++n) {
    const RuntimeNode& known = state_.nodes()[n];
    if (named[n] || known.state == NodeState::kDown) continue;
    spdlog::info("node {} is down: the runtime no longer names it", known.name);
    changed.push_back(known);
    changed.back().state = NodeState::kDown;
  }
  if (changed.empty()) return false;
  writer_.Write(record::Nodes{std::move(changed)});
  return true;
}

// A node that has lost GPUs keeps their numbers until its workers have ended, because these numbers
// are what jobs have.
RuntimeNode RuntimeReader::NodeFrom(const RuntimeNode& shown, const RuntimeNode& known) const {
  const bool lost = shown.capacity.gpus < known.capacity.gpus || shown.gpu_type != known.gpu_type;
  if (!lost || !state_.InUse(state_.NodeOf(known.name))) return shown;
  RuntimeNode node = shown;
  node.gpu_type = known.gpu_type;
  node.capacity = known.capacity;
  node.closed = true;
  return node;
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
  const LiveJob* job = state_.job_table().Find(seen.id);
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
    writer_.Write(record::Retire{seen.id});
    job = AddJob(seen);
  }
  state_.job_table().WorkersOf(*job).SetSettling(seen.settling);
  const JobState before = job->asked->state;
  state_.job_table().Follow(*job, Following(*job->asked, record));
  if (seen.over()) {
    EndJob(*job, seen.state, seen.reason);
    *event = true;
    return false;
  }
  if (before != seen.state) {
    if (seen.state == JobState::kHeld && job->running >= 0 && !job->pinned()) {
      writer_.Write(record::Take{seen.id, "it is held"});
    }
    *event = true;
  }
  return true;
}

bool RuntimeReader::EndUnlisted(const RuntimeSnapshot& snapshot) {
  std::set<std::string_view> listed;
  for (const auto& job : snapshot.jobs) listed.insert(job->id);
  bool event = false;
  const std::vector<const LiveJob*> active = state_.job_table().active();
  for (const LiveJob* job : active) {
    if (job->over || listed.contains(job->asked->id)) continue;
    EndJob(*job, JobState::kCancelled, "the runtime no longer lists it");
    event = true;
  }
  return event;
}

const LiveJob* RuntimeReader::AddJob(const RuntimeJob& seen) {
  const Seconds submit = std::clamp(seen.submit - writer_.origin(), 0.0, writer_.now());
  const Seconds deadline = seen.deadline == kNever ? kNever : seen.deadline - writer_.origin();
  writer_.Write(record::NewJob{seen, submit, deadline, state_.job_table().ProfileOf(seen.model)});
  const LiveJob* job = state_.job_table().Find(seen.id);
  if (seen.state == JobState::kHeld) {
    spdlog::info("job {} of {} is held: {}", seen.id, seen.user, seen.reason);
  } else if (job->fits()) {
    spdlog::info("job {} of {}: {} to {} GPUs of {}, model '{}'", seen.id, seen.user, seen.min_gpus,
                 seen.max_gpus, seen.gpu_types.empty() ? "any type" : seen.gpu_types, seen.model);
  } else {
    spdlog::warn("job {} waits for another cluster: {}", seen.id, *job->unfit);
  }
  return job;
}

void RuntimeReader::EndJob(const LiveJob& job, JobState state, const std::string& reason) {
  if (state == JobState::kFinished && job.asked->mode == ResizeMode::kHot && job.running >= 0 &&
      job.worker_group.membership().epoch < 0) {
    spdlog::warn("job {} ended before any of its workers joined: it had {} GPUs and used none",
                 job.asked->shown(), job.given());
  }
  state_.job_table().SetProgress(job, runtime_.Progress(job.asked->id));  // its last report
  writer_.Write(record::Over{.job = job.asked->id,
                             .state = state,
                             .report = {{reason, job.progress.step, job.progress.work}},
                             .gpu_seconds = job.attained_gpu_seconds,
                             .run_time = state_.job_table().RunTime(job)});
  counts_.AddEnd(state);
  state_.job_table().SetChangingSince(job, std::nullopt);
  spdlog::info("job {} {} after {:.1f} s{}{}", job.asked->id, NameOf(state),
               writer_.now() - job.submit, reason.empty() ? "" : ": ", reason);
}

// ---- progress ----

void RuntimeReader::Measure(Seconds before, Seconds now) {
  const bool account = now - accounted_ > kAccountEvery;
  if (account) accounted_ = now;
  for (const LiveJob* job : state_.job_table().active()) {
    if (job->over) continue;
    const std::string& id = job->asked->id;
    if (state_.job_table().Update(*job, runtime_.Progress(id), before, now)) {
      const Configuration& c = (*job->table)[job->running];
      const std::string& type = state_.job_table().nominal().types()[At(c.gpu_type)];
      writer_.Note({now, record::Rate{id, type, c.demand.gpus, c.span,
                                      job->fit.Rate(c.demand.gpus, type, c.span)}});
    }
    if (account && job->attained_gpu_seconds > 0) {
      writer_.Note({now, record::Account{id, job->progress.step, job->progress.work,
                                         job->attained_gpu_seconds, job->attained_seconds}});
    }
    if (!job->changing_since || !job->worker_group.training(job->progress)) continue;
    const Seconds took = writer_.now() - *job->changing_since;
    state_.job_table().SetChangingSince(*job, std::nullopt);
    writer_.Write(record::Trains{id, job->worker_group.membership().epoch,
                                 job->worker_group.workers().size(), job->progress.step, took});
    counts_.AddResize(took);
  }
}

void GiveOnly(StateWriter& writer, const LiveJob& job, std::span<const NodeShare> kept,
              const std::string& why) {
  if (kept.empty()) {
    writer.Write(record::Take{job.asked->id, why});
    return;
  }
  const LiveState& state = writer.state();
  const ConfigurationTable& table = *job.table;
  UnitCounts units;
  for (const NodeShare& share : kept) units += share.units;
  const std::int32_t left = table.Find(units, table[job.running].gpu_type, kept.size());
  writer.Write(record::Give{
      .job = job.asked->id, .allocated = state.Named(job, left, kept), .why = why, .lost = true});
}

bool RuntimeReader::ReadWorkers(const RuntimeSnapshot& snapshot) {
  const Seconds now = writer_.now();
  std::set<std::string> listed;
  std::vector<const RuntimeWorker*> unknown;
  for (const RuntimeWorker& seen : snapshot.workers) {
    listed.insert(seen.id);
    const LiveJob* job = state_.job_table().Find(seen.job);
    const bool known = job != nullptr && job->worker_group.Has(seen.id);
    if (known && seen.state == WorkerState::kEnded) {
      EndWorker(*job, seen.id, seen.failed, seen.reason);
    } else if (known) {
      WorkerGroup& group = state_.job_table().WorkersOf(*job);
      group.Update(seen, now);
      const NodeIndex node = state_.NodeOf(seen.node);
      if (node >= 0) group.Moved(seen.id, node, seen.gpus);
    } else if (seen.state != WorkerState::kEnded && !seen.node.empty()) {
      unknown.push_back(&seen);
    } else if (job != nullptr) {
      state_.job_table().WorkersOf(*job).PassNumberOf(seen.id);
    }
  }
  for (const LiveJob* job : state_.job_table().active()) {
    const std::vector<LiveWorker> workers = job->worker_group.workers();
    for (const LiveWorker& worker : workers) {
      if (listed.contains(worker.id)) continue;
      const WorkerVerdict verdict = JudgeWorkerEnd({.stopped = worker.leaving});
      EndWorker(*job, worker.id, verdict.failed(), "the runtime no longer lists it");
    }
  }
  // Last: where another daemon was in charge meanwhile, GPUs of workers that are gone are theirs.
  // Only as this one begins: a worker that comes later, of a start that was refused too
  // early, is what was asked for, or one too many.
  const bool first = !std::exchange(began_, true);
  bool event = false;
  std::map<const LiveJob*, std::vector<const RuntimeWorker*>> found;
  for (const RuntimeWorker* seen : unknown) {
    if (ReadUnknownWorker(*seen)) found[state_.job_table().Find(seen->job)].push_back(seen);
  }
  for (const LiveJob* job : state_.job_table().active()) {
    const auto its = found.find(job);
    if (first && its != found.end()) {
      CountServiceOf(*job, its->second);
      event = GiveWhatItHolds(*job, FirstOf(its->second)) || event;
    }
    if (job->pinned()) event = KeepAsItRuns(*job) || event;
  }
  return event;
}

// Since when the job has what nobody has counted. By a clock that differs it may not have begun
// yet; and what was before the journal's end the journal has told, all changes of the job too.
Seconds RuntimeReader::BeganOf(const RuntimeWorker& worker) const {
  const Seconds now = writer_.now();
  if (!worker.began) return now;
  return std::min(now, std::max(journal_end_, *worker.began - writer_.origin()));
}

// Of the first of them; now, where nobody knows.
Seconds RuntimeReader::FirstOf(std::span<const RuntimeWorker* const> workers) const {
  Seconds first = writer_.now();
  for (const RuntimeWorker* worker : workers) {
    first = std::min(first, BeganOf(*worker));
  }
  return first;
}

// What it had of the GPUs that it holds, before this daemon looked or while another one did.
void RuntimeReader::CountServiceOf(const LiveJob& job,
                                   std::span<const RuntimeWorker* const> workers) {
  const Seconds now = writer_.now();
  double gpu_seconds = 0;
  for (const RuntimeWorker* worker : workers) {
    gpu_seconds += std::popcount(worker->gpus) * (now - BeganOf(*worker));
  }
  if (gpu_seconds <= 0) return;
  writer_.Write(record::Account{job.asked->id, job.progress.step, job.progress.work,
                                job.attained_gpu_seconds + gpu_seconds,
                                job.attained_seconds + now - FirstOf(workers)});
}

// The journal's end was lost, or the worker is somebody else's. It may stay where its GPUs are
// free.
bool RuntimeReader::ReadUnknownWorker(const RuntimeWorker& seen) {
  const LiveJob* job = state_.job_table().Find(seen.job);
  const NodeIndex node = state_.NodeOf(seen.node);
  const bool counts = job != nullptr && job->asked->mode == ResizeMode::kCount;
  const bool room = node >= 0 && (counts || (state_.Held()[At(node)] & seen.gpus) == 0);
  if (job != nullptr && !job->over && room && !dry_run_) {
    const LiveWorker found{seen.id, node, seen.gpus, seen.state};
    writer_.Write(record::Found{seen.job, state_.Named({&found, 1})});
    state_.job_table().WorkersOf(*job).Update(seen, writer_.now());
    return true;
  }
  if (unknown_workers_.insert(seen.id).second) {
    spdlog::warn("worker {} belongs to no known job, stopping it", seen.id);
    if (!dry_run_) (void)runtime_.Stop(seen.id, StopMode::kKill);
  }
  return false;
}

// Without a journal, or with one of long ago: it trains on where it is, until a decision.
bool RuntimeReader::GiveWhatItHolds(const LiveJob& job, Seconds since) {
  if (!job.fits()) return false;
  HeldGpus held(state_.nodes().size());
  for (const LiveWorker& worker : job.worker_group.workers()) {
    if (!worker.leaving) held[At(worker.node)] |= worker.gpus;
  }
  const ClusterSpec& cluster = state_.job_table().nominal();
  std::vector<NodeShare> shares;
  UnitCounts units;
  std::set<GpuTypeIndex> types;
  for (std::size_t n = 0; n < held.size(); ++n) {
    if (held[n] == 0) continue;
    shares.push_back({static_cast<NodeIndex>(n), UnitCounts(std::popcount(held[n])), held[n]});
    units += shares.back().units;
    types.insert(cluster.nodes()[n].type);
  }
  const std::int32_t configuration =
      types.size() == 1 ? job.table->Find(units, *types.begin(), shares.size()) : -1;
  if (configuration < 0) return false;  // it was between two sizes
  writer_.Write(record::Give{.job = job.asked->id,
                             .allocated = state_.Named(job, configuration, shares),
                             .why = "it was found running",
                             .since = since});
  state_.job_table().SetChangingSince(job, writer_.now());
  return true;
}

// It began before an end that was decided could reach it.
bool RuntimeReader::KeepAsItRuns(const LiveJob& job) {
  if (dry_run_) return false;
  const std::vector<LiveWorker>& workers = job.worker_group.workers();
  if (std::any_of(workers.begin(), workers.end(), [](const LiveWorker& w) { return w.leaving; })) {
    writer_.Write(record::Stays{job.asked->id, "it runs and may not be stopped"});
  }
  return job.running < 0 && GiveWhatItHolds(job, writer_.now());
}

void RuntimeReader::EndWorker(const LiveJob& job, const std::string& worker, bool failed,
                              const std::string& reason) {
  const auto& workers = job.worker_group.workers();
  const auto found = std::ranges::find(workers, worker, &LiveWorker::id);
  const std::string node = found == workers.end() ? "" : state_.nodes()[At(found->node)].name;
  writer_.Write(record::Gone{job.asked->id, worker, failed, job.progress.step, reason});
  if (!failed) return;
  ++counts_.workers_failed;
  spdlog::warn("lost worker {} on {}: {}", worker, node, reason);
}

// ---- what jobs have ----

// Where no worker of it may start, the job keeps the GPUs of those that run. A job that restarts
// has none. The cluster chooses the nodes of counted jobs.
bool RuntimeReader::KeepOnlyWorkers(const LiveJob& job, const FailedNodes& failed,
                                    HeldGpus* usable) const {
  if (job.asked->mode == ResizeMode::kCount) return false;
  const auto its = failed.find(job.index);
  bool closed = false;
  for (const NodeShare& share : job.shares) {
    const bool fails =
        its != failed.end() && std::ranges::find(its->second, share.node) != its->second.end();
    if (!fails && !state_.IsClosed(share.node)) continue;
    closed = true;
    std::uint64_t used = 0;
    for (const LiveWorker& worker : job.worker_group.workers()) {
      if (worker.node == share.node && !worker.leaving) used |= worker.gpus;
    }
    (*usable)[At(share.node)] &= job.worker_group.past().restarting ? 0 : used;
  }
  return closed;
}

bool RuntimeReader::ReleaseLostGpus() {
  bool event = false;
  if (dry_run_) return event;
  const HeldGpus placed = PlacedByCount(state_);
  const FailedNodes failed = state_.FindFailedNodes(writer_.now());
  for (const LiveJob* job : state_.job_table().active()) {
    if (job->running < 0 || job->pinned()) continue;
    HeldGpus usable = placed;
    for (const LiveWorker& worker : job->worker_group.workers()) {
      usable[At(worker.node)] &= ~worker.gpus;
    }
    auto away = NodeState::kUp;  // what a node of it is that may run nothing; down, where one is
    for (const NodeShare& share : job->shares) {
      if (state_.node_up()[At(share.node)] || away == NodeState::kDown) continue;
      away = state_.StateOf(share.node);
    }
    for (std::size_t node = 0; node < usable.size(); ++node) {
      usable[node] = state_.node_up()[node] ? ~usable[node] : 0;
    }
    const bool closed = KeepOnlyWorkers(*job, failed, &usable);
    const auto kept = state_.job_table().SharesOn(*job, usable);
    if (kept.size() == job->shares.size() &&
        std::equal(kept.begin(), kept.end(), job->shares.begin())) {
      continue;
    }
    event = event || closed || away != NodeState::kUp;
    if (away == NodeState::kDown) state_.job_table().CountFailure(*job);
    GiveOnly(writer_, *job, kept,
             away == NodeState::kUp
                 ? closed ? "no worker may start on a node of it" : "pods of other jobs run there"
                 : fmt::format("a node of it is {}{}", away == NodeState::kMaintenance ? "in " : "",
                               NameOf(away)));
  }
  return event;
}

bool RuntimeReader::FollowPlaces() {
  bool freed = false;
  if (dry_run_) return freed;
  for (const LiveJob* job : state_.job_table().active()) {
    const bool counts = job->asked->mode == ResizeMode::kCount && !job->over && job->fits();
    if (!counts || job->asked->state != JobState::kActive) continue;
    const GpuCount before = job->given();
    FollowPlacesOf(*job);
    freed = freed || job->given() < before;
  }
  return freed;
}

void RuntimeReader::FollowPlacesOf(const LiveJob& job) {
  std::map<NodeIndex, std::uint64_t> places;
  GpuCount workers = 0;
  for (const LiveWorker& worker : job.worker_group.workers()) {
    if (worker.leaving || !state_.node_up()[At(worker.node)]) continue;
    places[worker.node] |= worker.gpus;
    ++workers;
  }
  const bool found = job.running < 0;
  const GpuCount given = found ? 0 : (*job.table)[job.running].demand.gpus;
  const auto& most = job.asked->at_most;
  // Those that it has no more have succeeded, and nobody replaces them.
  const bool ends = !found && most && most->gpus < given && workers <= most->gpus;
  if (ends && workers == 0) return GiveOnly(writer_, job, {}, most->by);
  // While a resize is under way the places are neither here nor there.
  if (workers == 0 || (!found && !ends && given != workers)) return;
  std::vector<NodeShare> shares;
  shares.reserve(places.size());
  for (const auto& [node, gpus] : places) {
    shares.push_back({node, UnitCounts(std::popcount(gpus)), gpus});
  }
  if (std::equal(shares.begin(), shares.end(), job.shares.begin(), job.shares.end())) return;
  // Pods on GPUs of two types, or more than the job may have, are no configuration: nothing is
  // said.
  const ClusterSpec& cluster = state_.job_table().nominal();
  const GpuTypeIndex type = cluster.nodes()[At(shares.front().node)].type;
  for (const NodeShare& share : shares) {
    if (cluster.nodes()[At(share.node)].type != type) return;
  }
  const std::int32_t configuration = job.table->Find(UnitCounts(workers), type, shares.size());
  if (configuration < 0) return;
  if (ends) return GiveOnly(writer_, job, shares, most->by);
  record::Allocated allocated = state_.Named(job, configuration, shares);
  const std::string why = "its workers are there";
  if (found) {
    writer_.Write(record::Give{job.asked->id, std::move(allocated), why});
  } else {
    writer_.Write(record::Placed{job.asked->id, std::move(allocated), why});
  }
}

}  // namespace allot
