// The belief 'learned': jobs learn from each other, their own measurements win, and nothing is
// known that was not measured.

#include <gtest/gtest.h>

#include <cmath>

#include "perf/rate_fit.h"
#include "perf/speed_prior.h"
#include "sim/belief.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::WorkloadOf;

class LearnedBeliefTest : public ::testing::Test {
 protected:
  // Two jobs of one model that ask for 2 GPUs, and one of another model.
  void Believe(double rate_of_four = 20) {
    Workload workload = WorkloadOf({{0, 2, 1000, 1, 4}, {1, 2, 1000, 1, 4}, {2, 2, 1000, 1, 4}});
    for (Job& job : workload.jobs) job.model = workload.models.Intern("m");
    workload.jobs[2].model = workload.models.Intern("n");
    Catalogue made;
    for (const char* name : {"m", "n"}) {
      made.Add(MakeGpuScalingModel(name, {{"gpu", {{1, 10}, {2, 20}, {4, rate_of_four}}}}));
    }
    scenario_ = std::make_unique<Scenario>(std::move(workload), ClusterSpec::Parse("1x4"),
                                           SimOptions{}, made);
    belief_ = MakeBelief("learned", *scenario_);
    for (const JobIndex job : {0, 1, 2}) (void)belief_->TableOf(job);
  }
  void Run(JobIndex job, GpuCount gpus, double rate) {
    const ConfigurationTable& table = *belief_->TableOf(job);
    belief_->Take({job, table.Find(UnitCounts(gpus), 0), 0, rate, 60});
  }
  double RateOn(JobIndex job, GpuCount gpus) {
    const ConfigurationTable& table = *belief_->TableOf(job);
    return table[table.Find(UnitCounts(gpus), 0)].rate;
  }
  double SpreadOn(JobIndex job, GpuCount gpus) {
    const ConfigurationTable& table = *belief_->TableOf(job);
    return table.spread(table.Find(UnitCounts(gpus), 0));
  }
  std::vector<JobIndex> AlsoRenewed() {
    std::vector<JobIndex> jobs;
    belief_->TakeAlsoRenewed(&jobs);
    return jobs;
  }

  std::unique_ptr<Scenario> scenario_;
  std::unique_ptr<Belief> belief_;
};

TEST_F(LearnedBeliefTest, BeginsWithThePriorAtThePaceAsRequested) {
  Believe();
  EXPECT_NEAR(RateOn(0, 2), 20, 1e-9);
  EXPECT_NEAR(RateOn(0, 4), 20 * std::pow(2, kPriorExponent), 1e-9);
  EXPECT_EQ(SpreadOn(0, 2), 0);
  EXPECT_NEAR(SpreadOn(0, 4), SpeedPrior::kSpread, 1e-6);
}

TEST_F(LearnedBeliefTest, AJobThatWaitsLearnsWhatItsModelMeasures) {
  Believe();
  Run(0, 2, 20);
  Run(0, 4, 16);
  (void)belief_->TableOf(0);  // it is shown at once
  EXPECT_EQ(AlsoRenewed(), std::vector<JobIndex>{1})
      << "job 0 was measured, job 2 is another model";
  EXPECT_NEAR(RateOn(1, 4), 16, 1e-9);
  EXPECT_EQ(SpreadOn(1, 4), 0);
  EXPECT_TRUE(AlsoRenewed().empty()) << "once";
}

TEST_F(LearnedBeliefTest, WhatAJobMeasuredItselfWins) {
  Believe();
  Run(0, 2, 20);
  Run(1, 2, 10);
  EXPECT_NEAR(RateOn(1, 2), 10, 1e-9);
}

TEST_F(LearnedBeliefTest, OtherModelsLearnHowFarOffThePriorWas) {
  Believe();
  Run(0, 2, 20);
  const double before = RateOn(2, 4);
  Run(0, 4, 20);  // no faster than two: the prior said 2^0.8
  belief_->Forget(2);
  const double error = -kPriorExponent * std::log(2);
  // All jobs: a third of it; of the size class: two thirds of that and a third of the error.
  EXPECT_NEAR(std::log(RateOn(2, 4) / before), error / 3 * 2 / 3 + error / 3, 1e-6);
}

TEST_F(LearnedBeliefTest, TheTruthOfWhatWasNotMeasuredIsNotKnown) {
  std::vector<double> believed[2];
  for (const int truth : {0, 1}) {
    Believe(truth == 0 ? 20 : 39);
    Run(0, 1, 10);
    for (const JobIndex job : {0, 1, 2}) {
      for (const GpuCount gpus : {1, 2, 4}) believed[truth].push_back(RateOn(job, gpus));
    }
  }
  EXPECT_EQ(believed[0], believed[1]);
}

}  // namespace
}  // namespace allot
