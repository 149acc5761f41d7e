// Runs whose figures can be worked out: two jobs on one GPU, of 200 s and 100 s, submitted
// together.

#include "experiment/experiment.h"

#include <gtest/gtest.h>

#include <cmath>

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

// Serves nobody.
class StarvingPolicy : public Policy {
 public:
  StarvingPolicy() { info_.id = "starving"; }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation&, Allocation* allocation) override { allocation->Clear(); }

 private:
  PolicyInfo info_;
};

std::vector<Contender> WithStarving(World& world, const std::string& others) {
  std::vector<Contender> contenders = ParseContenders(world, others);
  contenders.push_back({"starving", [] { return std::make_unique<StarvingPolicy>(); }});
  return contenders;
}

TEST(RunExperiment, KeepsRunsThatDidNotFinish) {
  const SmallTrace trace(kLongThenShort);
  World world(trace.OnOneNode("1x1"));
  ExperimentOptions options;
  options.keep_unfinished = true;
  options.out = (trace.folder() / "out").string();
  options.log_root = (trace.folder() / "logs").string();
  const Evaluation evaluation =
      RunExperiment(world, world.Scenarios(), WithStarving(world, "fifo"), options);
  EXPECT_DOUBLE_EQ(evaluation.policies[0].runs[0].avg_jct_s, 250);
  EXPECT_FALSE(evaluation.policies[0].runs[0].did_not_finish);
  const Evaluation kept = ReadEvaluation(options.out);
  const RunSummary& starved = kept.policies[1].runs[0];
  EXPECT_TRUE(std::isnan(starved.avg_jct_s));
  EXPECT_EQ(starved.unfinished, 2);
  EXPECT_NE(starved.did_not_finish.value_or("").find("2 jobs wait on an idle cluster"),
            std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(trace.folder() / "logs/cluster/fifo-v0/data/main_data.hdf5"));
  EXPECT_FALSE(std::filesystem::exists(trace.folder() / "logs/cluster/starving-v0"));
}

TEST(RunExperiment, IsAnErrorWhereNothingFinishes) {
  const SmallTrace trace(kLongThenShort);
  World world(trace.OnOneNode("1x1"));
  const auto run = [&](const std::string& others, bool keep) {
    ExperimentOptions options;
    options.keep_unfinished = keep;
    std::vector<Contender> contenders = WithStarving(world, "fifo");
    if (others.empty()) contenders.erase(contenders.begin());
    RunExperiment(world, world.Scenarios(), contenders, options);
  };
  const std::vector<std::string> words = {"policy 'starving'", "2 jobs wait on an idle cluster"};
  ExpectError(ExitCode::kRunFailed, words, [&] { run("", true); });
  ExpectError(ExitCode::kRunFailed, words, [&] { run("fifo", false); });
}

TEST(RunExperiment, LogsOfEnvironmentStepsNeedALog) {
  const SmallTrace trace(kLongThenShort);
  World world(trace.OnOneNode("1x1"));
  ExperimentOptions options;
  options.log_steps = LogStepsOf("environment");
  ExpectError(ExitCode::kUsage, {"--log-steps environment needs --log"}, [&] {
    RunExperiment(world, world.Scenarios(), ParseContenders(world, "fifo"), options);
  });
  ExpectError(ExitCode::kUsage, {"policy or environment", "'policies'"},
              [&] { LogStepsOf("policies"); });
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
