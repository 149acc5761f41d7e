// Runs whose figures can be worked out: two jobs on one GPU, of 200 s and 100 s, submitted
// together.

#include "experiment/experiment.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/experiment/small_trace.h"

namespace allot {
namespace {

using testing_support::SmallTrace;

const char* const kLongThenShort = "long,0,1,200\nshort,0,1,100\n";

TEST(RunExperiment, GivesTheMeanJctOfEachPolicy) {
  const SmallTrace trace(kLongThenShort);
  World world(trace.OnOneNode("1x1"));
  const Evaluation evaluation =
      RunExperiment(world, world.Scenarios(), ParseContenders(world, "fifo,srtf"), {});
  ASSERT_EQ(evaluation.policies.size(), 2U);
  EXPECT_EQ(evaluation.reference, "fifo");
  EXPECT_DOUBLE_EQ(evaluation.policies[0].runs[0].avg_jct_s, (200.0 + 300.0) / 2);
  EXPECT_DOUBLE_EQ(evaluation.policies[1].runs[0].avg_jct_s, (100.0 + 300.0) / 2);
  EXPECT_FALSE(evaluation.policies[0].oracle) << "fifo does not look at lengths";
  EXPECT_TRUE(evaluation.policies[1].oracle) << "srtf was told the true ones";
}

TEST(RunExperiment, DoesNotDependOnThreads) {
  const SmallTrace trace(kLongThenShort);
  World world(trace.OnOneNode("1x1"));
  const auto run = [&](int threads) {
    ExperimentOptions options;
    options.threads = threads;
    const Evaluation evaluation =
        RunExperiment(world, world.Scenarios(), ParseContenders(world, "fifo,srtf,las"), options);
    std::vector<double> jcts;
    for (const EvaluatedPolicy& policy : evaluation.policies) {
      jcts.push_back(policy.runs[0].avg_jct_s);
    }
    return jcts;
  };
  EXPECT_EQ(run(1), run(3));
}

TEST(RunExperiment, KeepsWhatCanBeReadBack) {
  const SmallTrace trace(kLongThenShort);
  World world(trace.OnOneNode("1x1"));
  ExperimentOptions options;
  options.out = (trace.folder() / "out").string();
  options.reference = "srtf";
  RunExperiment(world, world.Scenarios(), ParseContenders(world, "fifo,srtf"), options);
  const Evaluation kept = ReadEvaluation(options.out);
  EXPECT_EQ(kept.reference, "srtf");
  EXPECT_DOUBLE_EQ(kept.policies[1].runs[0].avg_jct_s, 200.0);
  EXPECT_TRUE(std::filesystem::exists(trace.folder() / "out/srtf"));
}

TEST(RunExperiment, RefusesAReferenceThatDoesNotRun) {
  const SmallTrace trace(kLongThenShort);
  World world(trace.OnOneNode("1x1"));
  ExperimentOptions options;
  options.reference = "las";
  ExpectError(ExitCode::kUsage, {"'las'"}, [&] {
    RunExperiment(world, world.Scenarios(), ParseContenders(world, "fifo"), options);
  });
}

TEST(ParseContenders, RefusesWhatCannotBeToldApartOrMade) {
  World world;
  ExpectError(ExitCode::kUsage, {"'fifo' is named twice"},
              [&] { ParseContenders(world, "fifo,fifo"); });
  ExpectError(ExitCode::kUsage, {"index:alpha=0.5", "index:alpha=0-5", "would share"},
              [&] { ParseContenders(world, "index:alpha=0.5,index:alpha=0-5"); });
  ExpectError(ExitCode::kUsage, {"fifoo"}, [&] { ParseContenders(world, "fifoo"); });
}

}  // namespace
}  // namespace allot
