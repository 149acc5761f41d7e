#include "sim/starvation_check.h"

#include <algorithm>
#include <string>

#include "cluster/no_progress.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "perf/job_room.h"

namespace allot {
namespace {

// A time-driven policy that leaves an idle cluster idle for this many decisions has lost its jobs.
constexpr std::int64_t kStuckAfter = 100'000;

// "4 GPUs of type a100 with 64 GB of host memory and 16 CPUs", as it requested them.
std::string DemandInWords(const Observation& o, std::size_t row) {
  const ConfigurationTable& table = *o.table[row];
  const Resources& demand = table[o.requested[row]].demand;
  std::string text = fmt::format("{} GPU{}", demand.gpus, demand.gpus == 1 ? "" : "s");
  const std::vector<std::string>& types = o.cluster->types();
  if (table.types().size() < types.size()) {
    std::vector<std::string> accepted;
    for (const GpuTypeIndex type : table.types()) accepted.push_back(types[At(type)]);
    text += " of type " + Join(accepted, " or ");
  }
  const std::string hosts = HostDemandInWords({0, demand.cpus, demand.memory_mb});
  return hosts.empty() ? text : text + " with " + hosts;
}

// Whether the nodes that are up, with nothing on them, could hold the job in any configuration.
bool CanBeServed(const Observation& o, std::size_t row) {
  const ConfigurationTable& table = *o.table[row];
  if (table.kinds().size() > 1) return true;  // workers and servers: not looked into
  const Resources& unit = table.kinds().front().demand;
  for (std::int32_t c = 0; c < table.size(); ++c) {
    if (!(table[c].rate > 0)) continue;
    std::int64_t units = table[c].units.of(0);
    for (const Node& node : o.cluster->nodes()) {
      if (node.type != table[c].gpu_type) continue;
      std::int64_t held = node.capacity.gpus / std::max(1, unit.gpus);
      if (unit.cpus > 0) held = std::min<std::int64_t>(held, node.capacity.cpus / unit.cpus);
      if (unit.memory_mb > 0) held = std::min(held, node.capacity.memory_mb / unit.memory_mb);
      units -= held;
      if (units <= 0) return true;
    }
  }
  return false;
}

// No policy could serve what waits, now or later, so that none is blamed.
void RequireServable(const Scenario& scenario, const Observation& o, std::int32_t nodes_present) {
  for (std::size_t row = 0; row < o.job.size(); ++row) {
    if (CanBeServed(o, row)) return;
  }
  const auto nodes = static_cast<std::int32_t>(scenario.cluster().nodes().size());
  const std::string away =
      nodes_present == nodes
          ? ""
          : fmt::format(" ({} of {} nodes, the others do not come back)", nodes_present, nodes);
  const Job& first = scenario.workload().jobs[At(o.job.front())];
  throw DataError(
      "{} can never run: the first of them, '{}', asks for {}, the cluster is {}{} "
      "(time {} s){}",
      Counted(o.rows(), "job"), first.id, DemandInWords(o, 0), o.cluster->ToString(), away, o.now,
      scenario.workload().PlaceOf(first));
}

}  // namespace

void StarvationCheck::Check(const SimulatedJobs& jobs, const ChangingNodes& nodes, Seconds event,
                            Seconds valid_until) {
  const Observation& o = jobs.observation;
  const bool nothing_runs = jobs.running.empty();
  // Running is not enough: a configuration may make no progress.
  idle_decisions_ = nothing_runs || event == kNever ? idle_decisions_ + 1 : 0;
  const bool asked_again = event != kNever || valid_until != kNever;
  if (asked_again && idle_decisions_ <= kStuckAfter) return;
  if (event == kNever && nothing_runs && !nodes.autoscaled()) {
    RequireServable(jobs.scenario, o, nodes.present());
  }
  const std::string when = asked_again ? fmt::format("for {} decisions in a row", idle_decisions_)
                                       : std::string("and nothing will change that");
  const std::string first = fmt::format("the first of them, '{}', asks for {}, the cluster is {}",
                                        jobs.scenario.workload().jobs[At(o.job.front())].id,
                                        DemandInWords(o, 0), o.cluster->ToString());
  if (nothing_runs) {
    throw NoProgress(fmt::format("{} {} on an idle cluster {}: {} (time {} s)",
                                 Counted(o.rows(), "job"), o.rows() == 1 ? "waits" : "wait", when,
                                 first, o.now));
  }
  throw NoProgress(
      fmt::format("{} {} unfinished, {} of them without progress on its GPUs, {}: {} (time {} s)",
                  Counted(o.rows(), "job"), o.rows() == 1 ? "is" : "are", jobs.running.size(), when,
                  first, o.now));
}

}  // namespace allot
