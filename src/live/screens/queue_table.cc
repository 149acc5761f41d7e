#include "live/screens/queue_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "core/counted.h"
#include "core/strings.h"
#include "live/screens/status_cells.h"
#include "metrics/humanise.h"
#include "metrics/table.h"

namespace allot {
namespace {

constexpr std::size_t kLongestWhy = 60;  // letters in the table

struct FreeNode {
  std::string type;
  GpuCount free = 0;
};

// GPUs that a decision may allocate. Workers may not yet occupy those that are allocated.
std::vector<FreeNode> FreeNodes(const DaemonStatus& status) {
  std::map<std::string, GpuCount> allocated;
  for (const JobStatus& job : status.jobs) {
    for (const auto& [node, gpus] : job.nodes) allocated[node] += gpus;
  }
  std::vector<FreeNode> nodes;
  for (const NodeStatus& node : status.nodes) {
    const GpuCount used = std::max(node.worker_gpus, allocated[node.name]);
    const bool usable = node.state == NodeState::kUp;
    nodes.push_back(
        {node.gpu_type, usable ? std::max(0, node.gpus - node.foreign_gpus - used) : 0});
  }
  return nodes;
}

// The most of one type, because a job runs on one type at a time.
GpuCount FreeFor(const JobStatus& job, const std::vector<FreeNode>& nodes) {
  std::vector<std::string_view> types;
  if (job.accepted_types) types = Split(*job.accepted_types, '|');
  std::map<std::string, GpuCount> by_type;
  GpuCount most = 0;
  for (const FreeNode& node : nodes) {
    const bool accepted =
        types.empty() || std::find(types.begin(), types.end(), node.type) != types.end();
    if (accepted) most = std::max(most, by_type[node.type] += node.free);
  }
  return most;
}

std::string GpusText(GpuCount gpus) { return Counted(gpus, "GPU"); }

// The daemon's reason, else what follows from the status.
std::string WhyText(const JobStatus& job, const DaemonStatus& status,
                    const std::vector<FreeNode>& nodes) {
  if (job.reason) return *job.reason;
  if (job.stage != JobStage::kWaiting) return "";
  if (status.paused) return "allot is paused";
  if (status.drained) return "drained: no job begins";
  const GpuCount free = FreeFor(job, nodes);
  if (free < job.min_gpus) return fmt::format("needs {}, {} free", GpusText(job.min_gpus), free);
  return job.limits ? fmt::format("{} free, not all for {}", GpusText(free), *job.limits)
                    : fmt::format("{} free, none given by the policy", GpusText(free));
}

// "2 (1-4)": requested, and what may be allocated.
std::string RequestCell(const JobStatus& job) {
  return job.min_gpus == job.max_gpus
             ? std::to_string(job.max_gpus)
             : fmt::format("{} ({}-{})", job.requested_gpus, job.min_gpus, job.max_gpus);
}

// "" if the name by which the user knows the job says it already.
std::string TitleCell(const JobStatus& job) {
  return job.name.ends_with(job.title) ? "" : job.title;
}

std::string HeadText(const DaemonStatus& status, std::size_t waiting,
                     const std::vector<FreeNode>& nodes) {
  GpuCount free = 0;
  GpuCount gpus = 0;
  for (const FreeNode& node : nodes) free += node.free;
  for (const NodeStatus& node : status.nodes) gpus += node.gpus;
  return fmt::format("{} of {} {}{}, {} of {} free, policy {}{}{}\n", waiting,
                     Counted(std::ssize(status.jobs), "job"),
                     waiting == 1 || status.jobs.size() == 1 ? "waits" : "wait",
                     MoreJobsText(status), free, GpusText(gpus), status.policy,
                     status.paused ? ", PAUSED" : "", status.drained ? ", drained" : "") +
         TroubleLines(status);
}

}  // namespace

std::vector<JobStatus> WaitingJobs(const DaemonStatus& status) {
  std::vector<JobStatus> waiting;
  std::copy_if(status.jobs.begin(), status.jobs.end(), std::back_inserter(waiting),
               [](const JobStatus& job) { return job.allocated_gpus == 0; });
  return waiting;
}

std::string QueueText(const DaemonStatus& status) {
  const std::vector<JobStatus> waiting = WaitingJobs(status);
  const std::vector<FreeNode> nodes = FreeNodes(status);
  std::string head = HeadText(status, waiting.size(), nodes);
  if (waiting.empty()) return head;
  using Align = TextTable::Align;
  TextTable table({{"job", Align::kLeft},
                   {"user", Align::kLeft},
                   {"name", Align::kLeft},
                   {"stage", Align::kLeft},
                   {"GPUs", Align::kLeft},
                   {"type", Align::kLeft},
                   {"age"},
                   {"waits"},
                   {"starts in"},
                   {"why", Align::kLeft}});
  std::string below;
  for (const JobStatus& job : waiting) {
    const std::string why = WhyText(job, status, nodes);
    const bool fits = DisplayWidth(Printable(why)) <= kLongestWhy;
    const auto& forecast = job.forecast;
    table.AddRow({job.name, job.user, TitleCell(job), std::string(NameOf(job.stage)),
                  RequestCell(job), job.accepted_types.value_or(""), HumanDuration(job.age),
                  job.waited ? HumanDuration(*job.waited) : "",
                  forecast ? TimeCells(*forecast, forecast->start, status.now)[1] : "",
                  fits ? why : "see below"});
    if (!fits) below += Printable(fmt::format("{}: {}", job.name, why)) + "\n";
  }
  return head + table.ToText() + below;
}

}  // namespace allot
