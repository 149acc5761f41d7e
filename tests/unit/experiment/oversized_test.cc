#include "experiment/oversized.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/experiment/small_trace.h"

namespace allot {
namespace {

using testing_support::SmallTrace;

const char* const kOneTooLarge = "a,0,1,100\nb,50,8,100\nc,100,4,300\n";

World WorldWith(const SmallTrace& trace, const std::string& oversized) {
  WorldSpec spec = trace.OnOneNode("1x4");
  spec.oversized = oversized;
  return World(spec);
}

TEST(Oversized, ByDefaultTheErrorNamesTheOption) {
  const SmallTrace trace(kOneTooLarge);
  World world = WorldWith(trace, "error");
  ExpectError(ExitCode::kBadData,
              {"'b' asks for 8 GPUs", "has 4", "trace.csv:3", "--oversized drop"},
              [&] { world.Scenarios(); });
}

TEST(Oversized, DroppedJobsAreCounted) {
  const SmallTrace trace(kOneTooLarge);
  World world = WorldWith(trace, "drop");
  EXPECT_EQ(world.Scenarios().front().scenario->workload().jobs.size(), 2U);
  ASSERT_EQ(world.read_report().drops.size(), 1U);
  EXPECT_EQ(world.read_report().dropped(), 1);
  EXPECT_NE(world.ReadNote().find("--oversized drop"), std::string::npos) << world.ReadNote();
}

TEST(Oversized, ClippedJobsKeepTheirGpuTime) {
  const SmallTrace trace(kOneTooLarge);
  World world = WorldWith(trace, "clip");
  const Job clipped = world.Scenarios().front().scenario->workload().jobs.at(1);
  EXPECT_EQ(clipped.gpus, 4);
  EXPECT_EQ(clipped.duration, 200);
  EXPECT_EQ(world.read_report().clipped.front().rows, 1);
  EXPECT_NE(world.ReadNote().find("made smaller"), std::string::npos) << world.ReadNote();
}

TEST(Oversized, OfTheTypesThatAJobAccepts) {
  Workload workload;
  Job job;
  job.id = "a";
  job.duration = 100;
  job.gpus = 6;
  job.gpu_types = workload.gpu_types.Intern("v100");
  workload.jobs.push_back(job);
  ReadReport report;
  FitToCluster(Oversized::kClip, ClusterSpec::Parse("1x4:v100,1x8:a100"), &workload, &report);
  EXPECT_EQ(workload.jobs.front().gpus, 4);
}

TEST(Oversized, DropsJobsOfTypesThatTheClusterLacks) {
  Workload workload;
  for (const char* type : {"v100", "h100"}) {
    Job job;
    job.id = type;
    job.duration = 100;
    job.gpus = 1;
    job.gpu_types = workload.gpu_types.Intern(type);
    workload.jobs.push_back(job);
  }
  ReadReport report;
  FitToCluster(Oversized::kDrop, ClusterSpec::Parse("1x4:v100"), &workload, &report);
  ASSERT_EQ(workload.jobs.size(), 1U);
  EXPECT_EQ(workload.jobs.front().id, "v100");
}

TEST(Oversized, RefusesOtherWordsAndAnEmptyRest) {
  ExpectError(ExitCode::kUsage, {"drop, clip or error", "'dorp'", "did you mean 'drop'"},
              [] { OversizedNamed("dorp"); });
  const SmallTrace trace("a,0,8,100\n");
  World world = WorldWith(trace, "drop");
  ExpectError(ExitCode::kBadData, {"at least one job must fit"}, [&] { world.Scenarios(); });
}

}  // namespace
}  // namespace allot
