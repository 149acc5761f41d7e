#pragma once
// Jobs of a simulated cluster that train applications in steps (TrainingRules::stepped): interval
// by interval, with the batches that they choose by what they have measured. Of one run; used by
// SimulatedCluster.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/holdings.h"
#include "sim/network_load.h"
#include "sim/shown_rates.h"
#include "sim/simulated_jobs.h"
#include "sim/training_run.h"

namespace allot {

class SteppedTraining {
 public:
  // `rates` outlives this; null: jobs know their true iteration times.
  SteppedTraining(const Scenario& scenario, ShownRates* rates);

  // After an answer is in force: jobs that it has changed train where they are now, with their own
  // batches or those that their users asked for.
  void Place(const SimulatedJobs& jobs, std::span<const Holdings::Change> changes,
             bool requested_batches);
  void Stop(JobIndex job);  // it has stopped or ended
  // Trains from now until `time`: sets rates, and when jobs finish that do. DataError as
  // TrainingRun::Advance.
  void Advance(Seconds time, SimulatedJobs* jobs);
  double done(JobIndex job) const { return runs_[At(job)]->done(); }

 private:
  TrainingRun::Chooser ChooserOf(JobIndex job) const;

  const Scenario& scenario_;
  ShownRates* const rates_;
  std::vector<std::unique_ptr<TrainingRun>> runs_;  // by job, null: it trains no application
  // Who shares a node with whom; none where that costs nothing (TrainingRules::interference).
  std::optional<Topology> topology_;
  std::optional<NetworkLoad> network_;
  bool requested_batches_ = false;  // as the last answer says
};

}  // namespace allot
