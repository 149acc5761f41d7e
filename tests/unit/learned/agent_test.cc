#include "agents/learned/agent.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "agents/learned/index_agent.h"
#include "core/rng.h"
#include "models/checkpoint.h"
#include "perf/elastic.h"
#include "sim/simulated_cluster.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

Scenario SmallScenario(std::uint64_t seed) {
  Rng rng(seed, "learned-test");
  Workload workload;
  for (int i = 0; i < 40; ++i) {
    Job job;
    job.id = "job-" + std::to_string(i);
    job.submit = rng.Uniform(0, 20000);
    job.gpus = static_cast<GpuCount>(1 << rng.Below(3));
    job.duration = 300 + rng.Exponential(3000);
    workload.jobs.push_back(std::move(job));
  }
  workload.Finish();
  MakeElastic({.seed = seed}, Catalogue::Embedded(), &workload);
  return {std::move(workload), ClusterSpec::Parse("2x4,1x8:v100"), SimOptions{}};
}

// Powers of two: -alpha ln(time) is then the same float in either order of rounding.
TEST(IndexAgent, DecidesAsTheHeuristicAtItsPoint) {
  for (const IndexPoint point : {IndexPoint{0.25F, 0.5F, 0.25F},
                                 {1, 0, 0},
                                 {0, 1, 0.5F},
                                 {0.5F, 2, 1},
                                 {0, 0, 0.5F, 1, 0.5F}}) {
    const Scenario scenario = SmallScenario(1);
    const auto learned = MakeLearnedPolicy({IndexAgentAt(point, 8, 3), {}});
    const std::string spec = fmt::format("index:alpha={},beta={},kappa={},rank={}", point.alpha,
                                         point.beta, point.kappa, point.rank);
    const auto heuristic = MakePolicy(spec);
    SimulatedCluster cluster(scenario);
    Allocation expected;
    Allocation actual;
    std::int64_t decisions = 0;
    do {
      heuristic->Decide(cluster.Observe(), &expected);
      learned->Decide(cluster.Observe(), &actual);
      ASSERT_EQ(actual, expected) << spec << ", decision " << decisions;
      cluster.Apply(expected);
      ++decisions;
    } while (cluster.WaitForChange(0));
    EXPECT_GT(decisions, 20) << spec;
  }
}

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    checkpoint_.feature_version = kFeatureVersion;
    checkpoint_.weights = IndexAgentAt({.alpha = 0.25F}, 4, 1);
    checkpoint_.state = nlohmann::json::object();
    checkpoint_.config = nlohmann::json::object();
  }

  Checkpoint checkpoint_;
  testing_support::TempFolder folder_;
  std::string path_ = (folder_ / "checkpoint").string();
};

TEST_F(CheckpointTest, IsLoaded) {
  SaveCheckpoint(checkpoint_, path_);
  EXPECT_EQ(LoadAgent(path_).weights, checkpoint_.weights);
  EXPECT_EQ(MakePolicy("learned:checkpoint=" + path_)->info().id, "learned");
}

// Run times of one user, who is long.
LengthModel LongUser() {
  Workload past;
  for (int i = 0; i < 30; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.duration = 50000 + i;
    job.user = past.users.Intern("long");
    job.group = i < 10 ? past.groups.Intern("script") : -1;
    past.jobs.push_back(std::move(job));
  }
  past.Finish();
  LengthModel lengths;
  lengths.Learn(past, kNever);
  return lengths;
}

TEST_F(CheckpointTest, KeepsRunTimesByUser) {
  const LengthModel lengths = LongUser();
  AddLengths(lengths, &checkpoint_.state);
  SaveCheckpoint(checkpoint_, path_);
  const LengthModel back = LoadAgent(path_).lengths;
  EXPECT_EQ(back.submitters(), lengths.submitters());
  EXPECT_EQ(back.submitters().at("long").size(), 2U);
  EXPECT_EQ(back.learned(), lengths.learned());
}

TEST_F(CheckpointTest, OfBeforeUsersWereKnownHasNone) {
  checkpoint_.state["run_times"] = LongUser().learned();
  SaveCheckpoint(checkpoint_, path_);
  const Agent agent = LoadAgent(path_);
  EXPECT_TRUE(agent.lengths.submitters().empty());
  EXPECT_EQ(agent.lengths.learned(), LongUser().learned());
}

TEST_F(CheckpointTest, RunTimesByUserMustBeOfBinsThatAre) {
  AddLengths(LongUser(), &checkpoint_.state);
  const auto refused = [&](const nlohmann::json& submitters, const char* words) {
    checkpoint_.state["run_times_by_submitter"] = submitters;
    SaveCheckpoint(checkpoint_, path_);
    ExpectError(ExitCode::kBadData, {path_, words}, [&] { LoadAgent(path_); });
  };
  refused("x", "'run_times_by_submitter' must be lists of numbers");
  refused({{"u", {{"", {{160, 1}}}}}}, "one of 160 bins");
}

TEST_F(CheckpointTest, OtherFeatureVersionIsRefused) {
  checkpoint_.feature_version = 77;
  SaveCheckpoint(checkpoint_, path_);
  ExpectError(ExitCode::kBadData, {path_, "77", fmt::format("{}", kFeatureVersion)},
              [&] { LoadAgent(path_); });
}

TEST_F(CheckpointTest, OtherKindIsRefused) {
  checkpoint_.weights.kind = "tabular";
  SaveCheckpoint(checkpoint_, path_);
  ExpectError(ExitCode::kBadData, {path_, "'tabular'", "index"}, [&] { LoadAgent(path_); });
}

TEST_F(CheckpointTest, OtherShapeIsRefused) {
  checkpoint_.weights = InitIndexNet({.job_features = 5,
                                      .context_features = kContextFeatures,
                                      .hidden = 4,
                                      .outputs = kIndexOutputs},
                                     1);
  SaveCheckpoint(checkpoint_, path_);
  ExpectError(ExitCode::kBadData, {path_, "5", fmt::format("{}", kJobFeatures)},
              [&] { LoadAgent(path_); });
}

TEST_F(CheckpointTest, TensorsMustMatchTheStatedShape) {
  checkpoint_.weights.sizes["hidden"] = 6;  // the tensors stay those of 4 hidden units
  SaveCheckpoint(checkpoint_, path_);
  ExpectError(ExitCode::kBadData, {path_, "'hidden.bias' must have shape [6], got [4]"},
              [&] { LoadAgent(path_); });
}

TEST(LearnedPolicy, NeedsACheckpoint) {
  ExpectError(ExitCode::kUsage, {"learned:checkpoint=DIR"}, [] { MakePolicy("learned"); });
}

}  // namespace
}  // namespace allot
