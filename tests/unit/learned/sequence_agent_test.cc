#include "agents/learned/sequence_agent.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "sim/simulated_cluster.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

Checkpoint Of(NetWeights weights) {
  Checkpoint checkpoint;
  checkpoint.feature_version = kSequenceFeatureVersion;
  checkpoint.weights = std::move(weights);
  checkpoint.state = nlohmann::json::object();
  checkpoint.config = nlohmann::json::object();
  return checkpoint;
}

TEST(SequenceAgent, ACheckpointSaysHowTheNetworkIsAsked) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "checkpoint").string();
  SaveCheckpoint(Of(MakeNetwork("flat:window=3,hidden=4,first-bundle=false,types=a|b", 1)), path);
  const SequencePlan plan = ReadPlan(LoadAgent(path).weights, path);
  EXPECT_EQ(plan.window, 3);
  EXPECT_EQ(plan.types, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(plan.bundles);
  EXPECT_FALSE(plan.stop_late);
  EXPECT_EQ(plan.features, SequenceFeatures::kDl2);
}

TEST(SequenceAgent, OtherFeatureVersionsAreRefused) {
  Checkpoint checkpoint = Of(MakeNetwork("shared:hidden=4", 1));
  checkpoint.feature_version = kSequenceFeatureVersion - 100;
  ExpectError(ExitCode::kBadData,
              {"c: ", fmt::format("version {}", kSequenceFeatureVersion - 100),
               fmt::format("needs {}", kSequenceFeatureVersion)},
              [&] { RequireServable(checkpoint, "c"); });
}

TEST(SequenceAgent, InputsThatThisBuildDoesNotGiveAreRefused) {
  NetWeights weights = InitSharedNet({.job_features = 7,
                                      .context_features = kSpeedContextFeatures,
                                      .hidden = 4,
                                      .kinds = SequenceAction::kKinds},
                                     1);
  SequencePlan plan;
  plan.features = SequenceFeatures::kSpeed;
  WritePlan(plan, &weights);
  ExpectError(ExitCode::kBadData,
              {"c: ", "job_features = 7", fmt::format("needs {}", kSpeedJobFeatures)},
              [&] { RequireServable(Of(weights), "c"); });
  NetWeights incomplete = MakeNetwork("shared:hidden=4", 1);
  incomplete.sizes.erase("bundles");
  ExpectError(ExitCode::kBadData, {"c: ", "'bundles'"},
              [&] { RequireServable(Of(incomplete), "c"); });
}

// Asks for a decision and takes the first legal action each time; returns the actions.
std::vector<int> FirstLegal(const std::string& spec, const World& world, Allocation* allocation) {
  const NetWeights weights = MakeNetwork(spec, 1);
  SequenceDecision decision({weights, {}}, MakeSequenceNet(weights));
  std::vector<int> actions;
  decision.Play(
      world.o,
      [&](const SequenceDecision& choice) {
        const auto legal = std::find(choice.mask().begin(), choice.mask().end(), 1);
        actions.push_back(static_cast<int>(legal - choice.mask().begin()));
        return actions.back();
      },
      allocation);
  return actions;
}

TEST(SequenceDecision, NothingIsAskedWhereThereIsNoChoice) {
  World world("1x1");
  world.Add({{1}});
  Allocation allocation;
  EXPECT_TRUE(FirstLegal("shared:hidden=4", world, &allocation).empty());
  EXPECT_EQ(allocation.entries().size(), 1U) << "the first bundle";
}

TEST(SequenceDecision, DoneIsNoChoiceWhileAnIncrementHelps) {
  World world("1x4");
  world.Add({{1, 2, 1.5}});
  for (const bool late : {true, false}) {
    const NetWeights weights = MakeNetwork(fmt::format("shared:hidden=4,mask-done={}", late), 1);
    SequenceDecision decision({weights, {}}, MakeSequenceNet(weights));
    std::vector<int> done_allowed;
    Allocation allocation;
    decision.Play(
        world.o,
        [&](const SequenceDecision& choice) {
          done_allowed.push_back(choice.mask().back());
          return done_allowed.size() > 1 ? choice.state().done_action() : 0;
        },
        &allocation);
    EXPECT_EQ(done_allowed, (std::vector<int>{late ? 0 : 1, 1}));  // the third GPU slows it down
  }
}

TEST(SequenceDecision, JobsBeyondTheWindowComeInTheNext) {
  World world("1x4");
  for (int i = 0; i < 3; ++i) world.Add({{1, 2}});
  Allocation allocation;
  FirstLegal("flat:window=1,hidden=4,first-bundle=false", world, &allocation);
  EXPECT_EQ(allocation.entries().size(), 2U) << "two jobs of two GPUs each";
}

}  // namespace
}  // namespace allot
