// The network 'offsets': what its weights keep of worlds, and how one of them is chosen.

#include <gtest/gtest.h>

#include "agents/learned/agent.h"
#include "features/offset_encoder.h"
#include "models/checkpoint.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

class OffsetsNetwork : public testing::Test {
 protected:
  OffsetsNetwork() {
    network_.begin_in(&agent_.weights, "pollux", "index:alpha=0,rank=1,beta=0.4");
    network_.begin_in(&agent_.weights, "sia", "index:alpha=0,rank=1,joint=true");
  }
  // The message, "" where it can be made.
  std::string Refusal(const Serving& serving) const {
    return ErrorOf(ExitCode::kUsage, [&] { MakeLearnedPolicy(agent_, serving); });
  }
  Checkpoint Saved() const {
    Checkpoint checkpoint;
    checkpoint.feature_version = kOffsetFeatureVersion;
    checkpoint.weights = agent_.weights;
    checkpoint.state = nlohmann::json::object();
    checkpoint.config = nlohmann::json::object();
    return checkpoint;
  }

  Agent agent_{MakeNetwork("offsets:hidden=4", 1), {}};
  const NetworkInfo& network_ = NetworkOf(agent_.weights);
  testing_support::TempFolder folder_;
  std::string path_ = (folder_ / "checkpoint").string();
};

TEST_F(OffsetsNetwork, NeedsAWorldThatItKnows) {
  EXPECT_EQ(Refusal({.world = "sia"}), "");
  EXPECT_NE(Refusal({.world = "gavel"}).find("none for world 'gavel', only for pollux, sia"),
            std::string::npos);
  EXPECT_NE(Refusal({}).find("only for pollux, sia"), std::string::npos);
}

TEST_F(OffsetsNetwork, ServesOtherWorldsByAnIndexGiven) {
  EXPECT_EQ(Refusal({.world = "gavel", .index = "index:alpha=0"}), "");
  EXPECT_NE(Refusal({.world = "gavel", .index = "las"}).find("'las'"), std::string::npos);
}

TEST_F(OffsetsNetwork, KeepsTheIndexOfAWorldThatItKnows) {
  const NetWeights before = agent_.weights;
  network_.begin_in(&agent_.weights, "sia", "index:alpha=5");
  EXPECT_EQ(agent_.weights, before);
}

TEST_F(OffsetsNetwork, RefusesAnIndexThatIsNone) {
  ExpectError(ExitCode::kUsage, {"'alhpa'"},
              [&] { network_.begin_in(&agent_.weights, "gavel", "index:alhpa=1"); });
}

TEST_F(OffsetsNetwork, IsLoadedWithItsWorlds) {
  SaveCheckpoint(Saved(), path_);
  EXPECT_EQ(LoadAgent(path_).weights, agent_.weights);
  EXPECT_NO_THROW(MakePolicy("learned:world=sia,checkpoint=" + path_));
  EXPECT_NO_THROW(MakePolicy("learned:index=index/alpha=1/beta=0.5,checkpoint=" + path_));
}

TEST_F(OffsetsNetwork, RefusesACheckpointWhoseIndexIsNone) {
  Checkpoint checkpoint = Saved();
  checkpoint.weights.sizes["worlds"]["sia"] = "index:alpha=x";
  SaveCheckpoint(checkpoint, path_);
  ExpectError(ExitCode::kBadData, {path_, "world 'sia'", "'alpha'"}, [&] { LoadAgent(path_); });
}

TEST_F(OffsetsNetwork, RefusesAnOwnPartWithoutItsWorld) {
  Checkpoint checkpoint = Saved();
  checkpoint.weights.sizes["worlds"].erase("sia");
  SaveCheckpoint(checkpoint, path_);
  ExpectError(ExitCode::kBadData, {path_, "out.bias@sia"}, [&] { LoadAgent(path_); });
}

TEST_F(OffsetsNetwork, RefusesOtherFeatureVersions) {
  Checkpoint checkpoint = Saved();
  checkpoint.feature_version = kFeatureVersion;
  SaveCheckpoint(checkpoint, path_);
  ExpectError(ExitCode::kBadData,
              {path_, fmt::format("{}", kFeatureVersion), fmt::format("{}", kOffsetFeatureVersion)},
              [&] { LoadAgent(path_); });
}

}  // namespace
}  // namespace allot
