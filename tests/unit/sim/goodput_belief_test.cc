// What jobs that train applications believe of types where they did not run, and of batches: an
// invented application whose rates can be worked out by hand.

#include <gtest/gtest.h>

#include "perf/application_files.h"
#include "perf/catalogue.h"
#include "sim/belief.h"
#include "sim/training_belief.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::WorkloadOf;

// A sample takes 0.1 s on 'slow'. With its largest batch a GPU of 'quick' does 40 samples a second,
// one of 'slow' 10, one of 'middle' 20. Progress is samples over 8, whatever the batch.
constexpr const char* kTypesPack =
    "@allot-applications\n"
    "@file parameters.csv\n"
    "gpu_type,application,init_batch_size,max_batch_size,min_local_bsz,max_local_bsz,max_epochs,"
    "total_progress,restart_seconds\n"
    "middle,mine,8,64,4,16,1,200,90\n"
    "quick,mine,8,64,4,16,1,200,90\n"
    "slow,mine,8,64,4,16,1,200,90\n"
    "@file mine/placements.csv\n"
    "gpu_type,placement,local_bsz,step_time,sync_time\n"
    "middle,1,4,0.2,0\nmiddle,1,16,0.8,0\nmiddle,2,4,0.2,0\nmiddle,2,16,0.8,0\n"
    "quick,1,4,0.1,0\nquick,1,16,0.4,0\nquick,2,4,0.1,0\nquick,2,16,0.4,0\n"
    "slow,1,4,0.4,0\nslow,1,16,1.6,0\nslow,2,4,0.4,0\nslow,2,16,1.6,0\n"
    "@file mine/validation.csv\n"
    "batch_size,epoch,progress,iteration,grad_sqr,grad_var\n"
    "8,0,200,200,0,1\n64,0,200,25,0,1\n";

class GoodputBeliefTest : public ::testing::Test {
 protected:
  void Believe(bool users_batch, const char* spec, const std::string& pack = kTypesPack,
               float batch = 8) {
    Workload workload = WorkloadOf({{0, 1, 100}});
    workload.jobs[0].model = workload.models.Intern("mine");
    workload.jobs[0].batch = batch;
    workload.jobs[0].min_gpus = 1;
    workload.jobs[0].max_gpus = 4;
    SimOptions options;
    options.training.stepped = true;
    options.training.users_batch = users_batch;
    scenario_ = std::make_unique<Scenario>(std::move(workload),
                                           ClusterSpec::Parse("1x2:slow,1x2:middle,1x2:quick"),
                                           options, Catalogue::FromCsv(pack, "apps"));
    belief_ = MakeBelief(spec, *scenario_);
    (void)belief_->TableOf(0);
  }
  // An iteration with four samples on a GPU.
  void Run(const char* type, GpuCount gpus, Seconds step) {
    TrainingMeasurement measured;
    measured.place = {type, 1, gpus};
    measured.batch.local_batch = 4;
    measured.gradient = step;
    measured.step = step;
    measured.statistics = {0, 1};
    belief_->training()->Measure(0, measured);
  }
  double RateOn(GpuTypeIndex type, GpuCount gpus) {
    const ConfigurationTable& table = *belief_->TableOf(0);
    return table[table.Find(UnitCounts(gpus), type)].rate;
  }

  std::unique_ptr<Scenario> scenario_;
  std::unique_ptr<Belief> belief_;
};

TEST_F(GoodputBeliefTest, OtherTypesAreAsMuchFasterAsTheirLargestBatches) {
  Believe(false, "online");
  Run("middle", 1, 0.1);
  EXPECT_NEAR(RateOn(0, 1) / RateOn(1, 1), 0.5, 1e-9);
  EXPECT_NEAR(RateOn(2, 1) / RateOn(1, 1), 2, 1e-9);
}

TEST_F(GoodputBeliefTest, TheClustersFirstKnownTypeSaysWhatOthersDo) {
  Believe(false, "online");
  Run("quick", 1, 0.1);
  Run("middle", 1, 0.4);  // far slower than it should be
  EXPECT_NEAR(RateOn(0, 1) / RateOn(1, 1), 0.5, 1e-9) << "of middle, which comes before quick";
}

TEST_F(GoodputBeliefTest, WhatAJobHadIsForgottenWithIt) {
  Believe(false, "known:growth=2");
  Run("slow", 2, 0.4);
  EXPECT_EQ(belief_->TableOf(0)->trusted(), UnitCounts(4));
  belief_->Forget(0);
  EXPECT_EQ(belief_->TableOf(0)->trusted(), UnitCounts(1));
}

TEST_F(GoodputBeliefTest, ABatchThatNoTypeOfTheClusterCanDoIsRefused) {
  std::string pack = kTypesPack;
  pack.replace(pack.find("middle,mine"), 0, "huge,mine,8,512,4,16,1,200,90\n");
  pack.replace(pack.find("middle,1,4"), 0, "huge,1,4,0.2,0\nhuge,1,16,0.8,0\n");
  Believe(false, "online", pack, 64);
  ExpectError(ExitCode::kBadData, {"asks for a batch of 65", "'mine' (apps/mine)", "8 to 64"},
              [&] { Believe(false, "online", pack, 65); });
}

TEST_F(GoodputBeliefTest, BatchesEndWhereTheRulesSay) {
  // All noise: what counts is samples a second. Half of what a pass takes is believed to be the
  // same for any batch, so that large ones do more.
  Believe(true, "online");
  Run("slow", 2, 0.4);
  const double with_users = RateOn(0, 2);
  Believe(true, "online:any-batch=true");
  Run("slow", 2, 0.4);
  EXPECT_GT(RateOn(0, 2), 1.2 * with_users);
  const double with_any = RateOn(0, 2);
  Believe(false, "online");
  Run("slow", 2, 0.4);
  EXPECT_EQ(RateOn(0, 2), with_any);
}

}  // namespace
}  // namespace allot
