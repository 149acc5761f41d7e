#pragma once
// A policy from the first to the last job of a scenario: what simulate, compare, evaluate and
// sweeps do.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/allocation_note.h"
#include "cluster/job_record.h"
#include "sched/driver.h"
#include "sched/foresight.h"
#include "sched/recorded_policy.h"
#include "sim/scenario.h"
#include "sim/simulated_cluster.h"

namespace allot {

struct RunOutcome {
  std::vector<JobRecord> records;  // by job index
  std::vector<TimelinePoint> timeline;
  std::vector<AllocationNote> notes;  // by time, where they were asked for
  Seconds last_decision = 0;
  DriveResult drive;
  // Why the run ended before its jobs had, where RunOptions::keep_unfinished.
  std::optional<std::string> did_not_finish;
  std::optional<LostGpuSeconds> lost;  // where Scenario::loses_gpu_time()
  std::optional<StartFigures> starts;  // where starts fail
  double cpu_s = 0;                    // of this thread
  double wall_s = 0;
};

struct RunOptions {
  std::optional<TrackedJobs> tracked{};  // the run ends when the last of them has; others may not
  Seconds until = kNever;  // the run ends at the first decision from then on; jobs may not have
  bool time_decisions = true;
  Policy* twin = nullptr;  // as in DriveOptions
  // A run without progress is kept as far as it came, instead of a RunError.
  bool keep_unfinished = false;
  bool note_allocations = false;  // into RunOutcome::notes; of shares without a mechanism none
  // Called about once a second while the run lasts, on its thread, to report how far it is.
  std::function<void(const Observation&)> on_second{};
};

// Throws what the driver throws, and UsageError for tracked jobs that the workload does not have.
// `listeners` see every decision; `cluster_ready` (optional) gets the cluster before the first one,
// for listeners that need its step facts.
RunOutcome RunPolicy(const Scenario& scenario, Policy& policy,
                     std::span<DecisionListener* const> listeners = {},
                     const std::function<void(const SimulatedCluster&)>& cluster_ready = {},
                     const RunOptions& options = {});

// What a policy gets at the start of an episode of the scenario, which must outlive it; no
// foresight.
EpisodeContext ContextOf(const Scenario& scenario);

// Plays the decisions of a log in the simulator, which must come to the same moments: DataError or
// RunError where it does not, or refuses one. Both must outlive what is returned.
Playback InSimulator(const Scenario& scenario, const DecisionLog& log);

// Whether the policy decides by true job lengths here, which no real cluster could tell it.
bool IsOracle(const Policy& policy, const Scenario& scenario);

// The scenario as oracles may see it. The scenario must outlive it.
class ScenarioForesight : public Foresight {
 public:
  explicit ScenarioForesight(const Scenario& scenario) : scenario_(scenario) {}
  JobIndex jobs() const override;
  double TrueWork(JobIndex job) const override { return scenario_.facts(job).work; }
  RequestedTraining TrainingOf(JobIndex job) const override;
  double MeanJct(Policy& policy) const override;

 private:
  const Scenario& scenario_;
};

}  // namespace allot
