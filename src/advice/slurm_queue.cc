// Slurm's queues: partitions with GPUs. Reads and writes through Slurm's own programs or libslurm
// (clients/slurm/slurm_back_end.h).

#include <algorithm>
#include <ctime>
#include <optional>
#include <set>
#include <utility>

#include "advice/advised_queue.h"
#include "clients/slurm/resources.h"
#include "clients/slurm/slurm_back_end.h"
#include "clients/slurm/slurm_program.h"
#include "clients/slurm/value_text.h"
#include "cluster/node_list.h"
#include "cluster/slurm_nodes.h"
#include "core/calendar.h"
#include "core/strings.h"
#include "live/runtimes/slurm/advice_health.h"
#include "live/runtimes/slurm/slurm_options.h"
#include "live/runtimes/slurm/slurm_tags.h"
#include "workload/formats/sacct_rows.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

// Pending reasons of jobs that wait for GPUs.
constexpr std::string_view kReasonsForGpus[] = {kNoReason, "Resources", "Priority",
                                                "ReqNodeNotAvail"};
constexpr const char* kPastFormat =
    "--format=JobID,JobName,User,Account,Partition,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,"
    "ReqTRES,AllocTRES";
constexpr Seconds kPastSpan = 30 * 86400.0;
constexpr Seconds kPastPatience = 120;        // of sacct, which asks a database
constexpr std::size_t kMostPast = 100'000;    // jobs: the last ones
constexpr std::size_t kMostTasksRead = 1000;  // of an array

struct AskedGpus {
  GpuCount count = 0;
  std::string type;  // "": any
};

AskedGpus GpusOf(const SlurmJob& job) {
  std::int64_t count = 0;
  const auto in_all = ParseTresGpus(job.tres);
  std::vector<SlurmGpuType> types = GpuTypesOfGres(job.gpus);
  if (types.empty()) types = GpuTypesOfGres(job.other_gpus);
  if (in_all && in_all->count > 0) {
    count = in_all->count;
  } else {
    for (const SlurmGpuType& type : types) count += type.count;
    if (!job.gpus.empty()) count *= job.nodes_asked;
  }
  const bool one_type = types.size() == 1 && !types.front().name.empty();
  return {static_cast<GpuCount>(std::min<std::int64_t>(count, kMostGpus)),
          one_type ? ClusterTypeName(types.front().name) : ""};
}

constexpr const char* kOfSeveralParts = "part of a heterogeneous job";

// Why a waiting job gets no advice; "" if it may get some.
std::string WhyLeftAlone(const SlurmJob& job) {
  if (job.on_hold) return "held";
  if (job.in_reservation) return "in a reservation";
  if (job.waits.starts_with("it depends")) return "depends on another job";
  if (!job.waits.empty()) return "its begin time is to come";
  if (ParseWorkerTag(job.admin_comment) || ParseJobTag(job.admin_comment)) {
    return "scheduled by allot serve";
  }
  if (job.part) return kOfSeveralParts;
  if (job.partition.find(',') != std::string::npos) return "in several partitions";
  const auto& ours = kReasonsForGpus;
  if (std::find(std::begin(ours), std::end(ours), job.pending) == std::end(ours)) {
    return fmt::format("waits for {}", job.pending);
  }
  return "";
}

// Of an array all records have its number.
std::string IdOf(const SlurmJob& job) {
  return std::to_string(job.array != 0 ? job.array : job.id);
}

QueuedJob Queued(const SlurmJob& job) {
  QueuedJob queued;
  queued.id = IdOf(job);
  queued.user = job.user;
  queued.account = job.account;
  queued.name = job.name;
  queued.submit = static_cast<Seconds>(job.submit);
  queued.start = static_cast<Seconds>(job.start);
  queued.limit = job.time_limit == kNoTimeLimit ? 0 : 60.0 * job.time_limit;
  queued.priority = job.priority;
  queued.number = job.id;
  queued.nice = static_cast<int>(job.nice);
  return queued;
}

class SlurmQueue final : public AdviceTarget {
 public:
  SlurmQueue(const SlurmAccess& access, std::vector<std::string> partitions)
      : access_(access), partitions_(std::move(partitions)), slurm_(OpenSlurm(access)) {}

  AdviceSnapshot Read() override;
  Workload Past(std::string* why) override;
  Status MayWrite() override { return MayWriteNice(slurm_); }
  Status SetNice(const std::string& id, int nice) override;
  std::string CommandFor(const std::string& id, int nice) const override {
    return fmt::format("scontrol update jobid={} nice={}", id, nice);
  }

 private:
  std::vector<std::string> PartitionsOf(const std::vector<SlurmNode>& nodes) const;
  // Nullopt if no node of it with GPUs is up.
  std::optional<AdvisedQueue> QueueOf(const std::string& partition) const;
  void AddWaiting(const SlurmJob& job, AdvisedQueue* queue,
                  std::map<std::string, std::size_t>* arrays) const;

  SlurmAccess access_;
  std::vector<std::string> partitions_;
  OpenedSlurm slurm_;
  SlurmSnapshot snapshot_;
};

std::vector<std::string> SlurmQueue::PartitionsOf(const std::vector<SlurmNode>& nodes) const {
  std::set<std::string> all;
  std::set<std::string> with_gpus;
  for (const SlurmNode& node : nodes) {
    const bool has_gpus = !GpuTypesOfGres(node.gres).empty();
    for (const std::string& name : node.partitions) {
      all.insert(name);
      if (has_gpus) with_gpus.insert(name);
    }
  }
  if (partitions_.empty()) return {with_gpus.begin(), with_gpus.end()};
  for (const std::string& name : partitions_) {
    if (with_gpus.contains(name)) continue;
    throw UsageError("--partition must name a partition with GPUs, one of {}, got '{}'{}",
                     Join({with_gpus.begin(), with_gpus.end()}, ", "), name,
                     all.contains(name) ? " (no node of it has GPUs)" : "");
  }
  return partitions_;
}

// All waiting records of an array are one job.
void SlurmQueue::AddWaiting(const SlurmJob& job, AdvisedQueue* queue,
                            std::map<std::string, std::size_t>* arrays) const {
  QueuedJob queued = Queued(job);
  const AskedGpus asked = GpusOf(job);
  queued.gpus = asked.count;
  const auto& types = queue->cluster.types();
  if (std::find(types.begin(), types.end(), asked.type) != types.end()) {
    queued.gpu_type = asked.type;
  }
  queued.left_alone = asked.count == 0 ? "asks for no GPUs" : WhyLeftAlone(job);
  queued.competes = queued.left_alone.empty() || queued.left_alone == kOfSeveralParts;
  if (!job.tasks.empty()) {
    const auto tasks = ParseArrayTasks(job.tasks, kMostTasksRead);
    queued.tasks = tasks ? static_cast<int>(tasks->size()) : 1;
  }
  if (job.array == 0) {
    queue->waiting.push_back(std::move(queued));
    return;
  }
  const auto [known, is_new] = arrays->try_emplace(queued.id, queue->waiting.size());
  if (is_new) {
    queue->waiting.push_back(std::move(queued));
    return;
  }
  QueuedJob& array = queue->waiting[known->second];
  array.tasks += queued.tasks;
  array.number = std::min(array.number, queued.number);
  array.priority = std::max(array.priority, queued.priority);
  if (array.left_alone.empty()) array.left_alone = queued.left_alone;
  if (array.nice != queued.nice) array.left_alone = "tasks of its array differ in Nice";
  array.competes = array.competes && queued.competes;
}

std::optional<AdvisedQueue> SlurmQueue::QueueOf(const std::string& partition) const {
  AdvisedQueue queue;
  queue.name = partition;
  ReadReport report;
  NodeList list("Slurm", &report);
  std::set<std::string> names;
  bool is_up = false;
  for (const SlurmNode& read : snapshot_.nodes) {
    const auto& in = read.partitions;
    if (std::find(in.begin(), in.end(), partition) == in.end()) continue;
    ListedNode node;
    node.name = read.name;
    SetGres(read.gres, GresFrom::kRecord, "Slurm's node " + read.name, &node);
    node.cpus = read.cpus;
    node.memory_mb = static_cast<std::int64_t>(read.memory_mib);
    node.away = read.reserved ? "reserved" : AwayBecause(read.state, read.state_text);
    names.insert(read.name);
    is_up = is_up || (node.away.empty() && !node.gpus.empty());
    list.Add(std::move(node), 1);
  }
  if (!is_up) return std::nullopt;
  queue.cluster = list.Finish("");
  std::map<std::string, std::size_t> arrays;
  for (const auto& job : snapshot_.jobs) {
    if (job->state == SlurmState::kPending && !job->completing) {
      const std::string_view first =
          std::string_view(job->partition).substr(0, job->partition.find(','));
      if (first == partition) AddWaiting(*job, &queue, &arrays);
      continue;
    }
    if (job->state != SlurmState::kRunning) continue;
    QueuedJob running = Queued(*job);
    for (const auto& [node, gres] : job->gpus_on) {
      if (!names.contains(node)) continue;
      for (const SlurmGpuType& type : GpuTypesOfGres(gres)) running.gpus += type.count;
    }
    if (running.gpus > 0) queue.running.push_back(std::move(running));
  }
  return queue;
}

// All tasks of an array have one Nice, and two partitions would want two.
void LeaveSharedArraysAlone(std::vector<AdvisedQueue>* queues) {
  std::map<std::string, int> seen;
  for (const AdvisedQueue& queue : *queues) {
    for (const QueuedJob& job : queue.waiting) ++seen[job.id];
  }
  for (AdvisedQueue& queue : *queues) {
    for (QueuedJob& job : queue.waiting) {
      if (seen[job.id] > 1) job.left_alone = "tasks of its array wait in several partitions";
    }
  }
}

AdviceSnapshot SlurmQueue::Read() {
  const Status done = slurm_.back_end->Load(&snapshot_);
  if (!done.ok()) throw RunError("{} (through {})", done.message(), slurm_.why);
  AdviceSnapshot result;
  result.now = static_cast<Seconds>(std::time(nullptr));
  for (const std::string& name : PartitionsOf(snapshot_.nodes)) {
    const bool waits =
        std::any_of(snapshot_.jobs.begin(), snapshot_.jobs.end(), [&](const auto& job) {
          return job->state == SlurmState::kPending && job->partition == name;
        });
    if (!waits) continue;
    if (auto queue = QueueOf(name)) result.queues.push_back(std::move(*queue));
  }
  LeaveSharedArraysAlone(&result.queues);
  for (const auto& job : snapshot_.jobs) {
    if (job->over()) continue;
    result.now = std::max(result.now, static_cast<Seconds>(job->submit));  // by another clock
    if (job->state == SlurmState::kRunning) {
      result.now = std::max(result.now, static_cast<Seconds>(job->start));
    }
    const auto [known, is_new] = result.jobs.try_emplace(IdOf(*job));
    // Of an array what waits counts.
    const bool waits = job->state == SlurmState::kPending;
    if (is_new || waits) {
      known->second = {static_cast<int>(job->nice), static_cast<Seconds>(job->submit),
                       waits ? 0 : static_cast<Seconds>(job->start)};
    }
  }
  return result;
}

Status SlurmQueue::SetNice(const std::string& id, int nice) {
  SlurmChange change;
  change.id = static_cast<std::uint32_t>(ParseInteger(id).value_or(0));
  change.nice = static_cast<std::uint32_t>(nice);
  Status done = slurm_.back_end->Change(change);
  const auto says = [&done](const char* words) {
    return !done.ok() && done.message().find(words) != std::string::npos;
  };
  if (says("Invalid job id") || says("already completing or completed")) return Status::Ok();
  if (!says("Invalid user id") && !says("permission denied")) return done;
  return Status::Refused(
      "{}: to change jobs of other users Slurm wants an operator: run as SlurmUser or root, or "
      "sacctmgr modify user NAME set adminlevel=operator",
      done.message());
}

Workload SlurmQueue::Past(std::string* why) {
  const auto sacct = FindSlurmProgram(access_.programs, "sacct");
  if (!sacct) {
    *why = "Slurm's program sacct is not installed";
    return {};
  }
  const std::string from =
      FormatCalendar(std::time(nullptr) - static_cast<std::int64_t>(kPastSpan));
  SlurmProgramOutput output;
  const Status run =
      RunSlurmProgram({{*sacct, "--allusers", "--allocations", "--parsable2", "--state=CD,F,TO,CA",
                        "--starttime=" + from.substr(0, 10), "--endtime=now", kPastFormat},
                       SlurmEnvironment(),
                       ""},
                      SlurmDeadline(kPastPatience), &output);
  if (!run.ok() || output.exit != 0) {
    *why = run.ok() ? LastLineOf(output) : run.message();
    return {};
  }
  ReadReport report;
  try {
    Workload past = ReadSacctText(output.text, "sacct", {}, &report, SacctTenant::kAccount);
    const std::size_t many = past.jobs.size() - std::min(past.jobs.size(), kMostPast);
    past.jobs.erase(past.jobs.begin(), past.jobs.begin() + static_cast<std::ptrdiff_t>(many));
    return past;
  } catch (const Error& error) {  // no job with GPUs
    *why = error.what();
    return {};
  }
}

ALLOT_REGISTER(AdviceTargetInfo,
               (AdviceTargetInfo{
                   .id = "slurm",
                   .summary = "partitions of Slurm; writes the Nice of jobs",
                   .params = SlurmParams(),
                   .make = [](const Params& params, const std::vector<std::string>& partitions) {
                     return std::make_unique<SlurmQueue>(SlurmAccessFrom(params), partitions);
                   }}));

}  // namespace
}  // namespace allot
