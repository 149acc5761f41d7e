#include "live/live_state.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "live/job_options.h"
#include "live/state_records.h"

namespace allot {
namespace {

constexpr std::array<std::string_view, 5> kJobStates = {"active", "held", "finished", "failed",
                                                        "cancelled"};

JournalRecord Known(double value) { return std::isfinite(value) ? JournalRecord(value) : nullptr; }

double Number(const JournalRecord& record, const char* key, double otherwise) {
  const auto found = record.find(key);
  return found == record.end() || found->is_null() ? otherwise : found->get<double>();
}

RuntimeJob AskedOf(const JournalRecord& r) {
  RuntimeJob job;
  job.id = r.at("job");
  job.user = r.at("user");
  job.name = r.at("name");
  job.known_as = r.value("known_as", std::string());
  job.submit = r.at("submit_unix");
  job.account = r.value("account", std::string());
  job.time_limit = Number(r, "time_limit", kNever);
  job.priority = r.at("priority");
  job.comment = r.at("comment");
  TakeJobOptions(r, &job);
  return job;
}

}  // namespace

std::string_view JobStateName(JobState state) {
  return kJobStates[static_cast<std::size_t>(state)];
}

JobState ParseJobState(std::string_view name, JobState otherwise) {
  const auto state = std::find(kJobStates.begin(), kJobStates.end(), name);
  return state == kJobStates.end() ? otherwise : JobState(state - kJobStates.begin());
}

namespace record {

JournalRecord Nodes(const std::vector<RuntimeNode>& nodes) {
  JournalRecord list = JournalRecord::array();
  for (const RuntimeNode& node : nodes) {
    list.push_back({{"node", node.name},
                    {"type", node.gpu_type},
                    {"gpus", node.capacity.gpus},
                    {"cpus", node.capacity.cpus},
                    {"up", node.up}});
    if (node.taken > 0) list.back()["taken"] = node.taken;
  }
  return {{"nodes", std::move(list)}};
}

JournalRecord Job(const RuntimeJob& job, Seconds submit, Seconds deadline) {
  JournalRecord asked = {
      {"job", job.id},    {"user", job.user},          {"name", job.name},
      {"submit", submit}, {"submit_unix", job.submit}, {"deadline", Known(deadline)}};
  RecordJobOptions(job, &asked);
  asked["time_limit"] = Known(job.time_limit);
  asked["priority"] = job.priority;
  asked["comment"] = job.comment;
  if (!job.known_as.empty()) asked["known_as"] = job.known_as;
  if (!job.account.empty()) asked["account"] = job.account;
  return asked;
}

JournalRecord Workers(const std::string& job, const std::vector<LiveWorker>& workers,
                      const std::vector<RuntimeNode>& nodes) {
  JournalRecord list = JournalRecord::array();
  for (const LiveWorker& worker : workers) {
    list.push_back(
        {{"worker", worker.id}, {"node", nodes[At(worker.node)].name}, {"gpus", worker.gpus}});
  }
  return {{"job", job}, {"workers", std::move(list)}};
}

JournalRecord Give(const std::string& job, const std::string& configuration,
                   std::span<const NodeShare> shares, const std::vector<RuntimeNode>& nodes,
                   const std::string& why) {
  JournalRecord list = JournalRecord::array();
  for (const NodeShare& share : shares) list.push_back({nodes[At(share.node)].name, share.gpus});
  return {
      {"job", job}, {"configuration", configuration}, {"shares", std::move(list)}, {"why", why}};
}

}  // namespace record

NodeIndex LiveState::NodeOf(const std::string& name) const {
  const auto found = node_index_.find(name);
  return found == node_index_.end() ? -1 : found->second;
}

HeldGpus LiveState::Held() const {
  HeldGpus held(nodes_.size(), 0);
  for (const LiveJob* job : job_table_.active()) {
    for (const LiveWorker& worker : job->worker_group.workers())
      held[At(worker.node)] |= worker.gpus;
  }
  return held;
}

LiveJob& LiveState::JobOf(const JournalRecord& record) {
  const auto id = record.at("job").get<std::string>();
  LiveJob* job = job_table_.Find(id);
  if (job == nullptr) throw DataError("a journal names a job before it changes it, got '{}'", id);
  return *job;
}

std::vector<NodeShare> LiveState::SharesOf(const JournalRecord& record) const {
  std::vector<NodeShare> shares;
  for (const JournalRecord& share : record.at("shares")) {
    const NodeIndex node = NodeOf(share.at(0));
    if (node < 0) throw DataError("a journal names its nodes, got '{}'", share.at(0).dump());
    const auto gpus = share.at(1).get<std::uint64_t>();
    shares.push_back({node, UnitCounts(std::popcount(gpus)), gpus});
  }
  return shares;
}

// Older journals have no key: then it is what the shares make.
std::int32_t LiveState::GivenConfiguration(const JournalRecord& record, LiveJob& job,
                                           std::span<const NodeShare> shares) {
  GpuCount gpus = 0;
  for (const NodeShare& share : shares) gpus += std::popcount(share.gpus);
  const std::string key = record.value("configuration", std::string());
  const std::int32_t given = key.empty() ? -1 : job_table_.FindGiven(job, key, gpus);
  if (job.table == nullptr) {
    throw DataError("job '{}' is given GPUs, but is over, or no node has the types that it accepts",
                    job.asked.id);
  }
  if (record.contains("configuration")) {
    if (given < 0) {
      throw DataError("job '{}' is given '{}', which is none of its {} configurations",
                      job.asked.id, key, job.table->size());
    }
    return given;
  }
  if (shares.empty()) throw DataError("job '{}' is given 0 shares, at least 1", job.asked.id);
  const UnitCounts units(gpus);
  const GpuTypeIndex type = job_table_.nominal().nodes()[At(shares.front().node)].type;
  const std::int32_t configuration = job.table->Find(units, type, shares.size());
  if (configuration < 0) {
    throw DataError("job '{}' is given {} GPUs, which its limits {} to {} do not hold",
                    job.asked.id, gpus, job.asked.min_gpus, job.asked.max_gpus);
  }
  return configuration;
}

// Nodes never leave and keep their place; new ones come last.
void LiveState::SetNodes(const JournalRecord& record) {
  bool grown = false;
  for (const JournalRecord& one : record.at("nodes")) {
    RuntimeNode node{one.at("node"),
                     one.at("type"),
                     {one.at("gpus"), one.at("cpus")},
                     one.at("up"),
                     one.value("taken", 0)};
    const auto [known, added] =
        node_index_.emplace(node.name, static_cast<NodeIndex>(nodes_.size()));
    if (added) {
      nodes_.push_back(std::move(node));
      grown = true;
    } else {
      nodes_[At(known->second)].up = node.up;
      nodes_[At(known->second)].taken = node.taken;
    }
  }
  if (grown) {
    ClusterSpec nominal;
    for (const RuntimeNode& node : nodes_) nominal.AddNodes(1, node.capacity, node.gpu_type);
    job_table_.SetCluster(nominal);
    present_ = nominal;
  }
  Refresh();
}

void LiveState::Refresh() {
  node_up_.resize(nodes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const std::string& name = nodes_[n].name;
    node_up_[n] =
        nodes_[n].up && !drained_nodes_.contains(name) && !maintained_nodes_.contains(name);
    present_.SetCapacity(static_cast<NodeIndex>(n), node_up_[n] ? nodes_[n].capacity : Resources{});
  }
}

void LiveState::Apply(const JournalRecord& r) {
  const Seconds at = r.at("at");
  const auto what = r.at("what").get<std::string>();
  last_ = std::max(last_, at);
  if (what == "serve") {
    origin_ = r.at("origin");
  } else if (what == "nodes") {
    SetNodes(r);
  } else if (what == "job") {
    if (nodes_.empty()) throw DataError("a journal names nodes before jobs");
    // The journal remembers for longer than the daemon did: names come again.
    job_table_.ForgetRetired(r.at("job"));
    job_table_.Add(AskedOf(r), r.at("submit"), Number(r, "deadline", kNever));
  } else if (what == "give") {
    LiveJob& job = JobOf(r);
    const std::vector<NodeShare> shares = SharesOf(r);
    job_table_.Give(job, GivenConfiguration(r, job, shares), shares, at);
    if (r.value("lost", false)) job.history.Lost();
  } else if (what == "placed") {
    LiveJob& job = JobOf(r);
    const std::vector<NodeShare> shares = SharesOf(r);
    job_table_.Place(job, GivenConfiguration(r, job, shares), shares);
  } else if (what == "take") {
    job_table_.Take(JobOf(r), at);
  } else if (what == "start" || what == "found") {
    LiveJob& job = JobOf(r);
    for (const JournalRecord& one : r.at("workers")) {
      LiveWorker worker;
      worker.id = one.at("worker");
      worker.node = NodeOf(one.at("node"));
      worker.gpus = one.at("gpus");
      worker.since = at;
      if (worker.node < 0) throw DataError("a journal names its nodes, got '{}'", one.dump());
      job.worker_group.Adopt(std::move(worker));
    }
  } else if (what == "refused") {
    LiveJob& job = JobOf(r);
    for (const JournalRecord& worker : r.at("workers")) job.worker_group.Gone(worker, false, 0, at);
    job.worker_group.StartRefused(at, r.value("why", std::string()));
  } else if (what == "announce") {
    JobOf(r).worker_group.Announced({r.at("epoch"), r.at("members")}, at);
  } else if (what == "stop") {
    const StopFault fault = r.value("late", false)      ? StopFault::kLate
                            : r.value("stalled", false) ? StopFault::kStalled
                                                        : StopFault::kNone;
    JobOf(r).worker_group.Stopped(r.at("worker"), r.at("kill") ? StopMode::kKill : StopMode::kSave,
                                  fault, r.value("step", std::int64_t{0}), at);
  } else if (what == "stays") {
    JobOf(r).worker_group.StopsUndone();
  } else if (what == "gone") {
    JobOf(r).worker_group.Gone(r.at("worker"), r.at("failed"), r.value("step", std::int64_t{0}),
                               at);
  } else if (what == "rate") {
    const Span span = ParseSpan(r.value("nodes", "any"));
    job_table_.Measure(JobOf(r), r.at("gpus"), r.at("type"), span, r.at("rate"), RateFit::kMemory);
  } else if (what == "batch") {
    job_table_.SetLimits(JobOf(r),
                         {r.at("initial"), r.at("most"), r.at("least_local"), r.at("most_local")});
  } else if (what == "noise") {
    job_table_.SetNoise(JobOf(r), r.at("noise"));
  } else if (what == "timed") {
    const std::int32_t nodes = r.at("nodes");
    job_table_.Timed(JobOf(r), r.at("type"), nodes,
                     {nodes > 1, r.at("gpus"), r.at("local"), r.at("gradient"), r.at("iteration")});
  } else if (what == "account") {
    LiveJob& job = JobOf(r);
    job.attained_gpu_seconds = r.at("gpu_seconds");
    job.attained_seconds = r.at("seconds");
  } else if (what == "over") {
    LiveJob& job = JobOf(r);
    job.asked.state = ParseJobState(r.at("state").get<std::string>(), job.asked.state);
    job.ended = at;
    job.run_time = Number(r, "run_time", kUnknown);
    job_table_.End(job, job.asked.state == JobState::kFinished ? at : kNever);
  } else if (what == "kept") {
    LiveJob& job = JobOf(r);
    ResumeJob(r, *this, SharesOf(r), &job_table_, &job);
  } else if (what == "learned") {
    Learn(r, &job_table_);
  } else if (what == "counts") {
    job_table_.Count(r.at("finished"), r.at("last_submit"));
  } else if (what == "retire") {
    LiveJob& job = JobOf(r);
    if (!job.over) throw DataError("a journal retires jobs that are over, got '{}'", job.asked.id);
    job_table_.Retire(job);
  } else if (what == "pause" || what == "resume") {
    paused_ = what == "pause";
    if (what == "resume" && !r.contains("drains")) {  // as earlier daemons meant it
      drained_ = false;
      drained_nodes_.clear();
      Refresh();
    }
  } else if (what == "undrain") {
    if (r.contains("node")) {
      drained_nodes_.erase(r.at("node").get<std::string>());
      Refresh();
    } else {
      drained_ = false;
    }
  } else if (what == "maintenance") {
    maintained_nodes_ = r.at("nodes").get<std::set<std::string>>();
    Refresh();
  } else if (what == "drain") {
    if (r.contains("node")) {
      drained_nodes_.insert(r.at("node").get<std::string>());
      Refresh();
    } else {
      drained_ = true;
    }
  }
}

}  // namespace allot
