// Times alone on a fair share, of an invented application whose times can be worked out by hand.

#include "sim/alone_times.h"

#include <gtest/gtest.h>

#include <cmath>

#include "perf/application_files.h"
#include "perf/catalogue.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::SmallJob;
using testing_support::WorkloadOf;

// Gradients without noise: progress is iterations, and the smallest batch is the best. 200
// iterations take 140 s on one GPU of 'slow' and 100 s on two; half on 'quick'.
constexpr const char* kAlonePack =
    "@allot-applications\n"
    "@file parameters.csv\n"
    "gpu_type,application,init_batch_size,max_batch_size,min_local_bsz,max_local_bsz,max_epochs,"
    "total_progress,restart_seconds\n"
    "quick,mine,8,16,4,16,2,200,30\n"
    "slow,mine,8,16,4,16,2,200,30\n"
    "@file mine/placements.csv\n"
    "gpu_type,placement,local_bsz,step_time,sync_time\n"
    "quick,1,4,0.25,0\nquick,1,16,0.55,0\nquick,2,4,0.25,0.05\nquick,2,16,0.55,0.05\n"
    "slow,1,4,0.5,0\nslow,1,16,1.1,0\nslow,2,4,0.5,0.1\nslow,2,16,1.1,0.1\n"
    "@file mine/validation.csv\n"
    "batch_size,epoch,progress,iteration,grad_sqr,grad_var\n"
    "8,0,100,100,1,0\n8,1,200,200,1,0\n"
    "16,0,100,100,1,0\n16,1,200,200,1,0\n";

Scenario AloneWorld(const SmallJob& job, const std::string& cluster, bool trains = true) {
  Workload workload = WorkloadOf({job});
  if (trains) workload.jobs[0].model = workload.models.Intern("mine");
  SimOptions options;
  options.training.stepped = true;
  options.training.first_start = true;
  return Scenario(std::move(workload), ClusterSpec::Parse(cluster), options,
                  Catalogue::FromCsv(kAlonePack, "apps"));
}

TEST(AloneTimesTest, LinearBetweenWholeNumbersAndLongerBelowOne) {
  const Scenario scenario = AloneWorld({0, 1, 100, 1, 2}, "1x2:slow");
  AloneTimes alone(scenario);
  EXPECT_DOUBLE_EQ(alone.Of(0, 1), 30 + 140);
  EXPECT_DOUBLE_EQ(alone.Of(0, 2), 30 + 100);
  EXPECT_DOUBLE_EQ(alone.Of(0, 1.5), 150);
  EXPECT_DOUBLE_EQ(alone.Of(0, 0.5), 340);
}

TEST(AloneTimesTest, TypesWeighAsManyAsTheyHaveGpus) {
  const Scenario scenario = AloneWorld({0, 1, 100, 1, 2}, "3x2:slow,1x2:quick");
  AloneTimes alone(scenario);
  EXPECT_DOUBLE_EQ(alone.Of(0, 1), 30 + (3 * 140 + 70) / 4.0);
}

TEST(AloneTimesTest, AJobOfOneSizeTakesLongerOnLessOfIt) {
  const Scenario scenario = AloneWorld({0, 2, 100}, "1x2:slow");
  AloneTimes alone(scenario);
  EXPECT_DOUBLE_EQ(alone.Of(0, 8), 130);
  EXPECT_DOUBLE_EQ(alone.Of(0, 1), 260);
}

TEST(AloneTimesTest, OtherJobsAreNotPlayed) {
  const Scenario scenario = AloneWorld({0, 1, 100}, "1x2:slow", false);
  AloneTimes alone(scenario);
  EXPECT_TRUE(std::isnan(alone.Of(0, 1)));
}

}  // namespace
}  // namespace allot
