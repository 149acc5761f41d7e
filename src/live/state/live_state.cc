#include "live/state/live_state.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "live/state/run_begin.h"

namespace allot {
namespace {

record::Training RecordOf(const TrainingEstimate& training) {
  return {training.limits(), training.noise(), training.fits().Seen()};
}

}  // namespace

NodeIndex LiveState::NodeOf(const std::string& name) const {
  const auto found = node_index_.find(name);
  return found == node_index_.end() ? -1 : found->second;
}

NodeState LiveState::StateOf(NodeIndex node) const {
  const RuntimeNode& known = nodes_[At(node)];
  if (drained_nodes_.contains(known.name)) return NodeState::kDrained;
  const bool maintained =
      known.state != NodeState::kDrained && maintained_nodes_.contains(known.name);
  if (maintained) return NodeState::kMaintenance;
  return known.up() && IsClosed(node) ? NodeState::kAvoided : known.state;
}

HeldGpus LiveState::Held() const {
  HeldGpus held(nodes_.size(), 0);
  for (const LiveJob* job : job_table_.active()) {
    for (const LiveWorker& worker : job->worker_group.workers())
      held[At(worker.node)] |= worker.gpus;
  }
  return held;
}

bool LiveState::InUse(NodeIndex node) const {
  const auto is_there = [node](const auto& part) { return part.node == node; };
  return std::ranges::any_of(job_table_.active(), [&](const LiveJob* job) {
    return std::ranges::any_of(job->shares, is_there) ||
           std::ranges::any_of(job->worker_group.workers(), is_there);
  });
}

bool LiveState::IsClosed(NodeIndex node) const {
  return nodes_[At(node)].closed || suspicion_.IsAvoided(nodes_[At(node)].name);
}

record::Allocated LiveState::Named(std::optional<std::string> configuration,
                                   std::span<const NodeShare> shares) const {
  record::Allocated named{std::move(configuration), {}};
  for (const NodeShare& share : shares) {
    named.nodes.push_back({nodes_[At(share.node)].name, share.gpus});
  }
  return named;
}

record::Allocated LiveState::Named(const LiveJob& job, std::int32_t configuration,
                                   std::span<const NodeShare> shares) const {
  const std::vector<std::string>& types = job_table_.nominal().types();
  record::Allocated named = Named(job.table->KeyText(configuration, types), shares);
  if (job.asked->mode != ResizeMode::kRestart) return named;
  std::vector<UnitCounts> nodes;
  nodes.reserve(shares.size());
  for (const NodeShare& share : shares) nodes.push_back(share.units);
  const std::string& type = types[At((*job.table)[configuration].gpu_type)];
  named.plan = job_table_.rates().PriorOf(job.asked->model)->PlanOn({type, nodes, {}});
  return named;
}

std::vector<record::Worker> LiveState::Named(std::span<const LiveWorker> workers) const {
  std::vector<record::Worker> named;
  for (const LiveWorker& worker : workers) {
    named.push_back({worker.id, nodes_[At(worker.node)].name, worker.gpus});
  }
  return named;
}

const LiveJob& LiveState::JobOf(const std::string& id) const {
  const LiveJob* job = job_table_.Find(id);
  if (job == nullptr) throw DataError("a journal names a job before it changes it, got '{}'", id);
  return *job;
}

WorkerGroup& LiveState::WorkersOf(const std::string& job) {
  return job_table_.WorkersOf(JobOf(job));
}

NodeIndex LiveState::KnownNode(const std::string& name) const {
  const NodeIndex node = NodeOf(name);
  if (node < 0) throw DataError("a journal names its nodes, got '{}'", name);
  return node;
}

std::vector<NodeShare> LiveState::SharesOf(const record::Allocated& allocated) const {
  std::vector<NodeShare> shares;
  for (const auto& [node, gpus] : allocated.nodes) {
    shares.push_back({KnownNode(node), UnitCounts(std::popcount(gpus)), gpus});
  }
  return shares;
}

// Without a key it follows from the shares.
std::int32_t LiveState::ConfigurationOf(const record::Allocated& allocated, const LiveJob& job,
                                        std::span<const NodeShare> shares) {
  GpuCount gpus = 0;
  for (const NodeShare& share : shares) gpus += std::popcount(share.gpus);
  const std::string key = allocated.configuration.value_or("");
  const std::int32_t given = key.empty() ? -1 : job_table_.FindGiven(job, key, gpus);
  if (job.table == nullptr) {
    throw DataError("job '{}' is given GPUs, but is over, or no node has the types that it accepts",
                    job.asked->id);
  }
  if (allocated.configuration) {
    if (given < 0) {
      throw DataError("job '{}' is given '{}', which is none of its {} configurations",
                      job.asked->id, key, job.table->size());
    }
    return given;
  }
  if (shares.empty()) throw DataError("job '{}' is given 0 shares, at least 1", job.asked->id);
  const UnitCounts units(gpus);
  const GpuTypeIndex type = job_table_.nominal().nodes()[At(shares.front().node)].type;
  const std::int32_t configuration = job.table->Find(units, type, shares.size());
  if (configuration < 0) {
    throw DataError("job '{}' is given {} GPUs, which its limits {} to {} do not hold",
                    job.asked->id, gpus, job.asked->min_gpus, job.asked->max_gpus);
  }
  return configuration;
}

// Nodes never leave and keep their place; new ones come last.
void LiveState::SetNodes(const std::vector<RuntimeNode>& nodes) {
  for (const RuntimeNode& node : nodes) {
    const auto [known, added] =
        node_index_.emplace(node.name, static_cast<NodeIndex>(nodes_.size()));
    if (added) {
      nodes_.push_back(node);
    } else {
      RuntimeNode& before = nodes_[At(known->second)];
      const bool repaired = before.state == NodeState::kDown || suspicion_.IsAvoided(node.name);
      if (!before.up() && node.up() && repaired) suspicion_.Repair(node.name);
      if (before.up() && node.state == NodeState::kDown) failure_rate_.Fail(last_);
      before = node;
    }
  }
  ClusterSpec nominal = MakeNominal();
  const ClusterSpec& before = job_table_.nominal();
  if (nominal.nodes() != before.nodes() || nominal.types() != before.types()) {
    SetTopology(&nominal);
    job_table_.SetCluster(nominal);
    present_ = nominal;
  }
  Refresh();
}

// Every node with the most GPUs that it has had, so that jobs' tables keep the sizes that jobs have
// when a node loses some. Types keep their indices, which tables have.
ClusterSpec LiveState::MakeNominal() const {
  const ClusterSpec& before = job_table_.nominal();
  ClusterSpec nominal;
  for (const std::string& type : before.types()) nominal.AddType(type);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    Resources most = nodes_[n].capacity;
    if (n < before.nodes().size()) {
      const Node& had = before.nodes()[n];
      if (before.types()[At(had.type)] == nodes_[n].gpu_type) {
        most.gpus = std::max(most.gpus, had.capacity.gpus);
        most.cpus = std::max(most.cpus, had.capacity.cpus);
      }
    }
    nominal.AddNodes(1, most, nodes_[n].gpu_type);
  }
  return nominal;
}

void LiveState::SetTopology(ClusterSpec* nominal) {
  if (!topology_) return;
  for (const RuntimeNode& node : nodes_) nominal->NameLastNode(node.name);
  ReadReport report;
  nominal->SetTopology(topology_(*nominal, &report));
  topology_notes_ = TopologyNotes(report);
}

void LiveState::Refresh() {
  node_up_.resize(nodes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const std::string& name = nodes_[n].name;
    node_up_[n] =
        nodes_[n].up() && !drained_nodes_.contains(name) && !maintained_nodes_.contains(name);
    present_.SetCapacity(static_cast<NodeIndex>(n), node_up_[n] ? nodes_[n].capacity : Resources{});
  }
}

void LiveState::SetDrained(const std::optional<std::string>& node, bool drained) {
  if (!node) {
    drained_ = drained;
  } else if (drained) {
    drained_nodes_.insert(*node);
  } else {
    drained_nodes_.erase(*node);
    if (suspicion_.IsAvoided(*node)) suspicion_.Repair(*node);  // its operator says so
  }
  Refresh();
}

// ---- nodes and jobs that fail ----

std::vector<std::string> LiveState::NamesOf(std::span<const NodeShare> shares) const {
  std::vector<std::string> names;
  names.reserve(shares.size());
  for (const NodeShare& share : shares) names.push_back(nodes_[At(share.node)].name);
  return names;
}

// The workers of a restart job start, and fail, together.
std::vector<std::string> LiveState::NodesOf(const LiveJob& job, std::string_view worker) const {
  std::vector<std::string> names;
  const bool all = worker.empty() || job.asked->mode == ResizeMode::kRestart;
  for (const LiveWorker& one : job.worker_group.workers()) {
    if (all || one.id == worker) names.push_back(nodes_[At(one.node)].name);
  }
  return names;
}

void LiveState::CountFailure(const LiveJob& job, const std::vector<std::string>& nodes,
                             WorkerFailure failure, Seconds at) {
  if (failure == WorkerFailure::kNone || nodes.empty()) return;
  const bool together = failure == WorkerFailure::kTogether;
  suspicion_.Fail(job.asked->id, job.asked->user, nodes, at, together);
  const auto avoided = [this](const std::string& node) { return suspicion_.IsAvoided(node); };
  if (!together && std::ranges::any_of(nodes, avoided)) WorkersOf(job.asked->id).Excuse(1);
}

// A job that the runtime ends as failed is not started elsewhere: its end is what its nodes are
// blamed by. The end of a hot job is that of its script; its workers' ends were counted. A job that
// has run there tells nothing of starts by its end: the node may have turned bad since.
void LiveState::CountEnd(const LiveJob& job, JobState state, Seconds at) {
  const std::vector<std::string> nodes = NamesOf(job.shares);
  const RuntimeJob& asked = *job.asked;
  const bool known = nodes.empty() || suspicion_.HasRunOn(asked.id, nodes);
  if (!known && state == JobState::kFinished) {
    suspicion_.Succeed(asked.id, asked.user, nodes, at);
  } else if (!known && state == JobState::kFailed && asked.mode != ResizeMode::kHot) {
    suspicion_.Fail(asked.id, asked.user, nodes, at);
  }
  suspicion_.EndJob(asked.id, state == JobState::kFailed, at);
}

void LiveState::Avoid(const std::string& node, Seconds until) {
  suspicion_.Avoid(node, until);
  for (const std::string& name : suspicion_.AccusersOf(node)) {
    const LiveJob* job = job_table_.Find(name);
    if (job == nullptr || job->over) continue;
    job_table_.WorkersOf(*job).Excuse(suspicion_.FailuresOf(name, node));
  }
}

FailedNodes LiveState::FindFailedNodes(Seconds now) const {
  FailedNodes failed;
  for (const auto& [name, tried] : suspicion_.jobs()) {
    if (tried.over) continue;
    const std::vector<std::string> names = NodeSuspicion::FailedNodesOf(tried, now);
    const LiveJob* job = names.empty() ? nullptr : job_table_.Find(name);
    if (job == nullptr || job->over || !job->fits()) continue;
    std::vector<NodeIndex> nodes;
    for (const std::string& node : names) {
      if (const NodeIndex index = NodeOf(node); index >= 0) nodes.push_back(index);
    }
    if (CanHold(*job, nodes)) failed[job->index] = std::move(nodes);
  }
  return failed;
}

// Nodes that are up and not closed, without some of them, have as many GPUs as the job needs.
bool LiveState::CanHold(const LiveJob& job, std::span<const NodeIndex> without) const {
  std::vector<GpuCount> gpus(present_.types().size(), 0);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const auto node = static_cast<NodeIndex>(n);
    const auto& only = job.asked->only_on;
    if (IsClosed(node) || std::ranges::find(without, node) != without.end()) continue;
    if (!only.empty() && std::ranges::find(only, nodes_[n].name) == only.end()) continue;
    gpus[At(present_.nodes()[n].type)] += present_.nodes()[n].capacity.gpus;
  }
  return std::ranges::any_of(
      job.table->types(), [&](GpuTypeIndex type) { return gpus[At(type)] >= job.asked->min_gpus; });
}

// ---- what records change ----

struct LiveState::Applier {
  LiveState& state;
  Seconds at;

  // The run and its nodes.
  void operator()(const record::Serve& r) const { state.BeginRun(at, r.origin); }
  void operator()(const record::Nodes& r) const { state.SetNodes(r.nodes); }
  void operator()(const record::Drain& r) const { state.SetDrained(r.node, true); }
  void operator()(const record::Undrain& r) const { state.SetDrained(r.node, false); }
  void operator()(const record::MaintainedNodes& r) const {
    state.maintained_nodes_ = r.nodes;
    state.Refresh();
  }
  void operator()(const record::Avoid& r) const { state.Avoid(r.node, r.until); }
  void operator()(const record::Readmit& r) const { state.suspicion_.Readmit(r.node); }
  void operator()(const record::NodesBefore& r) const {
    state.failure_rate_ = NodeFailureRate(r.node_seconds, r.failures, r.failed_at);
    for (const std::string& node : r.repaired) state.suspicion_.Repair(node);
  }
  void operator()(const record::Pause& /*r*/) const { state.paused_ = true; }
  void operator()(const record::Resume& /*r*/) const { state.paused_ = false; }

  // Jobs.
  void operator()(const record::NewJob& r) const {
    if (state.nodes_.empty()) throw DataError("a journal names nodes before jobs");
    // The journal knows jobs for longer than the daemon that wrote it: names come again.
    state.job_table_.ForgetRetired(r.asked.id);
    if (state.job_table_.Find(r.asked.id) != nullptr) {
      throw DataError("a journal names a job once while it is there, got '{}' again", r.asked.id);
    }
    state.job_table_.Add(std::make_shared<const RuntimeJob>(r.asked), r.submit, r.deadline);
  }
  void operator()(const record::Give& r) const {
    const LiveJob& job = state.JobOf(r.job);
    const std::vector<NodeShare> shares = state.SharesOf(r.allocated);
    state.job_table_.Give(job, state.ConfigurationOf(r.allocated, job, shares), shares,
                          r.since.value_or(at), r.lost, r.allocated.plan);
  }
  void operator()(const record::Placed& r) const {
    const LiveJob& job = state.JobOf(r.job);
    const std::vector<NodeShare> shares = state.SharesOf(r.allocated);
    state.job_table_.Place(job, state.ConfigurationOf(r.allocated, job, shares), shares);
  }
  void operator()(const record::Take& r) const { state.job_table_.Take(state.JobOf(r.job), at); }
  void operator()(const record::Account& r) const {
    state.job_table_.SetService(state.JobOf(r.job), r.gpu_seconds, r.seconds, at);
  }
  void operator()(const record::Over& r) const {
    const LiveJob& job = state.JobOf(r.job);
    // A journal that was written anew has learned it from this job already.
    if (r.report) {
      state.job_table_.CountWork(job, r.state == JobState::kFinished, r.run_time, at);
    }
    state.CountEnd(job, r.state, at);
    state.job_table_.End(job, r.state, at, r.run_time);
  }
  void operator()(const record::Retire& r) const {
    const LiveJob& job = state.JobOf(r.job);
    if (!job.over) throw DataError("a journal retires jobs that are over, got '{}'", r.job);
    state.job_table_.Retire(job);
  }

  // Their workers.
  void operator()(const record::Start& r) const { Adopt(r.job, r.workers); }
  void operator()(const record::Found& r) const { Adopt(r.job, r.workers); }
  void operator()(const record::Refused& r) const {
    WorkerGroup& group = state.WorkersOf(r.job);
    for (const std::string& worker : r.workers) (void)group.Gone(worker, false, 0, at);
    group.StartRefused(at, r.why);
  }
  void operator()(const record::Announce& r) const {
    state.WorkersOf(r.job).Announced(r.membership, at);
  }
  void operator()(const record::Stop& r) const {
    const LiveJob& job = state.JobOf(r.job);
    const std::vector<std::string> nodes = state.NodesOf(job, r.worker);
    state.CountFailure(job, nodes,
                       state.WorkersOf(r.job).Stopped(r.worker, r.mode, r.fault, r.step, at), at);
  }
  void operator()(const record::Stays& r) const { state.WorkersOf(r.job).StopsUndone(); }
  void operator()(const record::Gone& r) const {
    const LiveJob& job = state.JobOf(r.job);
    const std::vector<std::string> nodes = state.NodesOf(job, r.worker);
    state.CountFailure(job, nodes, state.WorkersOf(r.job).Gone(r.worker, r.failed, r.step, at), at);
  }
  void operator()(const record::Succeeded& r) const {
    const LiveJob& job = state.JobOf(r.job);
    state.suspicion_.Succeed(r.job, job.asked->user, state.NodesOf(job, ""), at);
  }

  // What was measured.
  void operator()(const record::Rate& r) const {
    state.job_table_.Measure(state.JobOf(r.job), r.gpus, r.type, r.span, r.rate, RateFit::kMemory);
  }
  void operator()(const record::Batch& r) const {
    state.job_table_.SetLimits(state.JobOf(r.job), r.limits());
  }
  void operator()(const record::Noise& r) const {
    state.job_table_.SetNoise(state.JobOf(r.job), r.noise);
  }
  void operator()(const record::Timed& r) const {
    state.job_table_.Timed(
        state.JobOf(r.job), r.type, r.nodes,
        {r.nodes > 1, r.gpus, static_cast<double>(r.local), r.gradient, r.iteration});
  }

  // A journal that was written anew.
  void operator()(const record::Renewed& /*r*/) const {}
  void operator()(const record::Kept& r) const { state.Resume(r); }
  void operator()(const record::LearnedRates& r) const {
    state.job_table_.LearnRates(r.user, r.model, r.fit);
  }
  void operator()(const record::LearnedTraining& r) const {
    state.job_table_.LearnTraining(r.key, r.training);
  }
  void operator()(const record::NodeEvidence& r) const { state.suspicion_.Put(r.node); }
  void operator()(const record::JobEvidence& r) const { state.suspicion_.Put(r.job); }
  void operator()(const record::UserEvidence& r) const { state.suspicion_.Put(r.user); }
  void operator()(const record::LearnedWork& r) const { state.job_table_.LearnWork(r, at); }
  void operator()(const record::LearnedUsage& r) const { state.job_table_.LearnUsage(r, at); }
  void operator()(const record::Counts& r) const {
    state.job_table_.Count(r.finished, r.last_submit);
    state.failure_rate_ = NodeFailureRate(r.node_seconds, r.node_failures, r.node_failed_at);
  }

  // For people.
  void operator()(const record::Cancel& /*r*/) const {}
  void operator()(const record::GiveUp& /*r*/) const {}
  void operator()(const record::Decide& /*r*/) const {}
  void operator()(const record::Trains& /*r*/) const {}
  void operator()(const record::TrainsWith& /*r*/) const {}
  void operator()(const record::Other& /*r*/) const {}

  void Adopt(const std::string& job, const std::vector<record::Worker>& workers) const {
    WorkerGroup& group = state.WorkersOf(job);
    for (const record::Worker& each : workers) {
      LiveWorker worker;
      worker.id = each.id;
      worker.node = state.KnownNode(each.node);
      worker.gpus = each.gpus;
      worker.since = at;
      group.Adopt(std::move(worker));
    }
  }
};

// A daemon that finds the journal's end in the future moves the origin back (FindRunBegin): an
// earlier daemon began with a clock that was ahead. What lies before that beginning then happened
// later than the journal says; what lies behind it is right by the new origin.
void LiveState::BeginRun(Seconds at, double origin) {
  const Seconds ahead = origin_ - origin;
  if (ahead > 0) {
    const auto jump = std::find_if(begins_.rbegin(), begins_.rend(), [&](const DaemonBegin& begin) {
      return begin.after >= ahead - kLeastJump;
    });
    if (jump != begins_.rend()) job_table_.ShiftTimes(jump->at, ahead, at);
    begins_.clear();
  }
  origin_ = origin;
  begins_.push_back({at, at - last_before_});
}

void LiveState::Apply(const TimedRecord& record) {
  last_before_ = last_;
  last_ = std::max(last_, record.at);
  failure_rate_.Pass((last_ - last_before_) *
                     static_cast<double>(std::ranges::count(node_up_, true)));
  std::visit(Applier{*this, record.at}, record.record);
}

// ---- the state as records ----

void LiveState::Resume(const record::Kept& kept) {
  WorkerGroupPast group{
      {}, kept.group.membership, kept.group.next_number, kept.group.restarting, kept.group.backoff};
  for (const record::Kept::KeptWorker& each : kept.group.workers) {
    LiveWorker worker;
    worker.id = each.worker.id;
    worker.node = KnownNode(each.worker.node);
    worker.gpus = each.worker.gpus;
    worker.leaving = each.leaving;
    worker.killed = each.killed;
    worker.since = each.since;
    group.workers.push_back(std::move(worker));
  }
  job_table_.Resume(JobOf(kept.job), kept, SharesOf(kept.allocated), std::move(group));
}

record::Kept LiveState::KeptOf(const LiveJob& job) const {
  std::optional<std::string> configuration;
  if (job.running >= 0)
    configuration = job.table->KeyText(job.running, job_table_.nominal().types());
  record::Allocated allocated = Named(std::move(configuration), job.shares);
  allocated.plan = job.plan;
  const WorkerGroupPast& past = job.worker_group.past();
  record::Kept kept{
      .job = job.asked->id,
      .allocated = std::move(allocated),
      .changes = job.changes,
      .waiting_since = job.waiting_since,
      .gpu_seconds = job.attained_gpu_seconds,
      .seconds = job.attained_seconds,
      .first_start = job.record.first_start,
      .preemptions = job.record.preemptions,
      .restarts = job.record.restarts,
      .moves = job.record.moves,
      .failures = job.record.failures,
      .fit = job.fit.Points(),
      .group = {{}, past.membership, past.next_number, past.restarting, past.backoff}};
  for (const LiveWorker& worker : past.workers) {
    kept.group.workers.push_back(
        {Named({&worker, 1}).front(), worker.leaving, worker.killed, worker.since});
  }
  if (job.rules.may_pin() && job.changes > 0) {
    kept.history = {job.history.last(), job.history.restarts(), job.history.lost()};
  }
  if (job.training) kept.training = RecordOf(*job.training);
  return kept;
}

void LiveState::ForEachRecord(double origin, Seconds now,
                              const std::function<void(const TimedRecord&)>& visit) const {
  const auto add = [&](JournalRecord record) { visit({now, std::move(record)}); };
  add(record::Serve{origin});
  if (!nodes_.empty()) add(record::Nodes{nodes_});
  if (paused_) add(record::Pause{});
  if (drained_) add(record::Drain{});
  for (const std::string& node : drained_nodes_) add(record::Drain{node});
  if (!maintained_nodes_.empty()) add(record::MaintainedNodes{maintained_nodes_});
  for (const auto& [of, fit] : job_table_.rates().latest()) {
    add(record::LearnedRates{of.first, of.second, fit.Points()});
  }
  for (const auto& [key, training] : job_table_.latest_training()) {
    add(record::LearnedTraining{key, RecordOf(training)});
  }
  for (const auto& [submitter, usage] : job_table_.usage().entries()) {
    visit({usage.at, job_table_.UsageOf(submitter, usage.at)});
  }
  for (const auto& [at, work] : job_table_.StatedWorkOfUsers()) visit({at, work});
  const std::vector<const LiveJob*>& active = job_table_.active();
  for (const auto& [index, job] : job_table_.jobs()) {
    const RuntimeJob& asked = *job.asked;
    add(record::NewJob{asked, job.submit, job.deadline, job_table_.ProfileOf(asked.model)});
    add(KeptOf(job));
    if (!job.over) continue;
    visit({job.ended, record::Over{.job = asked.id,
                                   .state = asked.state,
                                   .gpu_seconds = job.attained_gpu_seconds,
                                   .run_time = job.run_time}});
    if (std::ranges::find(active, &job) == active.end()) add(record::Retire{asked.id});
  }
  for (const auto& [name, node] : suspicion_.nodes()) add(record::NodeEvidence{node});
  for (const auto& [name, job] : suspicion_.jobs()) add(record::JobEvidence{job});
  for (const auto& [name, user] : suspicion_.users()) add(record::UserEvidence{user});
  add(record::Counts{job_table_.finished(), job_table_.last_submit(), failure_rate_.node_seconds(),
                     failure_rate_.failures(), failure_rate_.failed_at()});
}

}  // namespace allot
