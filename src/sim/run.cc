#include "sim/run.h"

#include <time.h>

#include <chrono>

namespace allot {
namespace {

double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

RunOutcome RunPolicy(const Scenario& scenario, Policy& policy,
                     std::span<DecisionListener* const> listeners,
                     const std::function<void(const SimulatedCluster&)>& cluster_ready) {
  using Clock = std::chrono::steady_clock;
  const auto wall = Clock::now();
  const double cpu = ThreadCpuSeconds();
  SimulatedCluster cluster(scenario);
  if (cluster_ready) cluster_ready(cluster);
  RunOutcome outcome;
  const ScenarioForesight foresight(scenario);
  outcome.drive = Drive(
      cluster, policy,
      {.seed = scenario.options().seed, .cluster = &scenario.cluster(), .foresight = &foresight},
      listeners);
  outcome.records = cluster.records();
  outcome.timeline = cluster.timeline();
  outcome.cpu_s = ThreadCpuSeconds() - cpu;
  outcome.wall_s = std::chrono::duration<double>(Clock::now() - wall).count();
  return outcome;
}

JobIndex ScenarioForesight::jobs() const {
  return static_cast<JobIndex>(scenario_.workload().jobs.size());
}

double ScenarioForesight::MeanJct(Policy& policy) const {
  SimulatedCluster cluster(scenario_);
  Drive(cluster, policy, {.seed = scenario_.options().seed, .cluster = &scenario_.cluster()}, {},
        {.time_decisions = false});
  double sum = 0;
  for (const JobRecord& record : cluster.records()) sum += record.finish - record.submit;
  return sum / jobs();
}

}  // namespace allot
