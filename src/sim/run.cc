#include "sim/run.h"

#include <chrono>
#include <utility>

#include "cluster/no_progress.h"
#include "core/cpu_time.h"
#include "core/error.h"
#include "sim/ideal_run.h"
#include "sim/noted_cluster.h"
#include "sim/ruled_simulation.h"

namespace allot {
namespace {

// Whether all tracked jobs have ended, asked again and again: each is passed once.
class AllEnded {
 public:
  AllEnded(const SimulatedCluster& cluster, TrackedJobs tracked)
      : cluster_(cluster), next_(tracked.first), last_(tracked.last) {}

  bool operator()() {
    const std::vector<JobRecord>& records = cluster_.records();
    while (next_ <= last_ && records[static_cast<std::size_t>(next_)].finish != kNever) ++next_;
    return next_ > last_;
  }

 private:
  const SimulatedCluster& cluster_;
  JobIndex next_;
  JobIndex last_;
};

void CheckTracked(const TrackedJobs& tracked, std::size_t jobs) {
  if (tracked.first < 0 || tracked.last < tracked.first ||
      static_cast<std::size_t>(tracked.last) >= jobs) {
    throw UsageError(
        "tracked jobs must be 0 <= first <= last < {} (jobs of the workload), got {}..{}", jobs,
        tracked.first, tracked.last);
  }
}

// Reports about once a second, reading the clock only every so many calls.
class EverySecond {
 public:
  EverySecond(const SimulatedCluster& cluster, std::function<void(const Observation&)> report)
      : cluster_(cluster), report_(std::move(report)) {}

  void operator()() {
    if (++calls_ % kCalls != 0) return;
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::seconds(1)) return;
    last_ = now;
    report_(cluster_.Observe());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kCalls = 64;
  const SimulatedCluster& cluster_;
  std::function<void(const Observation&)> report_;
  int calls_ = 0;
  Clock::time_point last_ = Clock::now();
};

// Whether its shares are to be had as they are; else it decides.
bool RunsByShares(Policy& policy, std::span<DecisionListener* const> listeners) {
  if (policy.ideal_shares() == nullptr) return false;
  if (listeners.empty()) return true;
  throw UsageError("ideal=true gives fractions of GPUs, which no log of decisions can hold ('{}')",
                   policy.info().id);
}

}  // namespace

bool IsOracle(const Policy& policy, const Scenario& scenario) {
  const PolicyInfo& info = policy.info();
  return info.oracle || (info.needs_lengths && scenario.tells_true_lengths());
}

RunOutcome RunPolicy(const Scenario& scenario, Policy& policy,
                     std::span<DecisionListener* const> listeners,
                     const std::function<void(const SimulatedCluster&)>& cluster_ready,
                     const RunOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto wall = Clock::now();
  const double cpu = ThreadCpuSeconds();
  const bool ideal = RunsByShares(policy, listeners);
  std::optional<const Scenario> without;
  if (ideal) without.emplace(WithoutMechanism(scenario));
  RuledSimulation simulation(ideal ? *without : scenario);
  SimulatedCluster& cluster = simulation.cluster();
  if (cluster_ready) {
    cluster_ready(cluster);
  } else {
    cluster.LeaveOutSums();
    if (listeners.empty()) cluster.ShowRates(policy.info().rates);
  }
  RunOutcome outcome;
  const ScenarioForesight foresight(scenario);
  DriveOptions drive;
  drive.time_decisions = options.time_decisions;
  drive.twin = options.twin;
  if (options.tracked) {
    CheckTracked(*options.tracked, scenario.workload().jobs.size());
    drive.enough = AllEnded(cluster, *options.tracked);
  }
  if (options.until < kNever) {
    drive.enough = [&cluster, until = options.until, before = drive.enough]() {
      return cluster.Observe().now >= until || (before && before());
    };
  }
  if (options.on_second) {
    drive.enough = [second = EverySecond(cluster, options.on_second),
                    before = drive.enough]() mutable {
      second();
      return before && before();
    };
  }
  EpisodeContext context = ContextOf(scenario);
  context.foresight = &foresight;
  try {
    if (ideal) {
      outcome.drive = DriveShares(cluster, policy, context, drive);
    } else if (options.note_allocations) {
      NotedCluster noted(simulation.port(), cluster.Observe(), &outcome.notes);
      outcome.drive = Drive(noted, policy, context, listeners, drive);
    } else {
      outcome.drive = Drive(simulation.port(), policy, context, listeners, drive);
    }
  } catch (const NoProgress& error) {
    if (!options.keep_unfinished) throw;
    outcome.did_not_finish = error.what();
    outcome.drive.decisions = cluster.Observe().decision + 1;
  }
  outcome.records = cluster.TakeRecords();
  outcome.timeline = cluster.TakeTimeline();
  outcome.last_decision = cluster.last_decision();
  outcome.lost = cluster.lost();
  if (const FailedStarts* starts = cluster.failed_starts()) outcome.starts = starts->figures();
  outcome.cpu_s = ThreadCpuSeconds() - cpu;
  outcome.wall_s = std::chrono::duration<double>(Clock::now() - wall).count();
  return outcome;
}

EpisodeContext ContextOf(const Scenario& scenario) {
  return {.seed = scenario.options().seed,
          .cluster = &scenario.cluster(),
          .tenants = &scenario.workload().tenants.names(),
          .charge_of = [&workload = scenario.workload()](JobIndex job) {
            return workload.ChargeOf(workload.jobs[static_cast<std::size_t>(job)]);
          }};
}

Playback InSimulator(const Scenario& scenario, const DecisionLog& log) {
  return [&scenario, &log](DecisionListener* listener) {
    RuledSimulation simulation(scenario);
    RecordedPolicy policy(log);
    DecisionListener* const listeners[] = {listener};
    Drive(simulation.port(), policy, ContextOf(scenario), listeners, {.time_decisions = false});
  };
}

JobIndex ScenarioForesight::jobs() const {
  return static_cast<JobIndex>(scenario_.workload().jobs.size());
}

RequestedTraining ScenarioForesight::TrainingOf(JobIndex job) const {
  const ApplicationModel* const model = scenario_.facts(job).application();
  if (model == nullptr) return {};
  const double asked = scenario_.workload().jobs[static_cast<std::size_t>(job)].batch;
  const Application& application = *model->application();
  return {&application, asked > 0 ? asked : application.initial_batch()};
}

double ScenarioForesight::MeanJct(Policy& policy) const {
  RuledSimulation simulation(scenario_);
  SimulatedCluster& cluster = simulation.cluster();
  cluster.LeaveOutSums();
  cluster.ShowRates(policy.info().rates);
  Drive(simulation.port(), policy, ContextOf(scenario_), {}, {.time_decisions = false});
  double sum = 0;
  for (const JobRecord& record : cluster.records()) sum += record.finish - record.submit;
  return sum / jobs();
}

}  // namespace allot
