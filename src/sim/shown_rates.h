#pragma once
// The rates that policies are shown in a simulated cluster whose jobs' rates are not known: tables
// of a belief (sim/belief.h), which are renewed as the jobs that run are measured. Of one run;
// SimulatedCluster has none where policies see the true tables.

#include <memory>
#include <vector>

#include "sched/rates_read.h"
#include "sim/belief.h"
#include "sim/job_walks.h"
#include "sim/simulated_jobs.h"
#include "sim/training_belief.h"

namespace allot {

class ShownRates {
 public:
  // `walks` outlives this.
  ShownRates(const Scenario& scenario, std::unique_ptr<Belief> belief, const JobWalks& walks);

  // Null: jobs know their true iteration times.
  TrainingBelief* training() const { return belief_->training(); }
  bool shown() const { return shown_; }  // false: policies see the true tables

  // Before the first answer: policies read no other rates. Tables may then be the true ones.
  void LimitTo(RatesRead rates, SimulatedJobs* jobs);

  void Show(std::size_t row, SimulatedJobs* jobs) const;  // of a job that has arrived
  void Start(JobIndex job, Seconds ready);                // on what it was given
  void Forget(JobIndex job) { belief_->Forget(job); }

  // When a rate will be measured that policies do not know yet; kNever: not while all goes on as it
  // is. O(slots), or O(1) for beliefs that do not measure.
  Seconds NextMeasurement(const SimulatedJobs& jobs) const;
  // Measures the jobs that have run long enough, and shows tables that were renewed. O(slots).
  void Measure(SimulatedJobs* jobs);
  // The last measurement of a job that ends.
  void MeasureEnd(const SimulatedJobs& jobs, std::size_t slot);
  // What a job that trains in steps has measured; ShowRenewed shows what follows from it.
  void Learn(JobIndex job, const TrainingMeasurement& measured);
  void ShowRenewed(SimulatedJobs* jobs);

 private:
  bool MeasureSlot(const SimulatedJobs& jobs, std::size_t slot, Seconds now);

  const Scenario& scenario_;
  const JobWalks& walks_;
  std::unique_ptr<Belief> belief_;
  bool shown_ = true;
  // By job: when its rate was last measured, or it started. Empty: nothing is measured.
  std::vector<Seconds> measured_at_;
  std::vector<JobIndex> renewed_;  // tables that were renewed and are not shown yet
};

}  // namespace allot
