#include "elastic/checkpoint_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

class CheckpointFileTest : public testing::Test {
 protected:
  CheckpointFileTest() { std::iota(weights_.begin(), weights_.end(), 1.0F); }

  static std::vector<StateBlock> Blocks(std::vector<float>& weights, double& extra) {
    return {{weights.data(), weights.size() * sizeof(float)}, {&extra, sizeof extra}};
  }
  std::string LoadError(const std::vector<StateBlock>& state) const {
    return ErrorOf(ExitCode::kBadData, [&] { LoadCheckpoint(folder_, state); });
  }

  testing_support::TempFolder temp_;
  OwnedFolder folder_ = OwnedFolder::OpenOrMake(temp_);
  std::filesystem::path path_ = temp_ / "checkpoint";
  std::vector<float> weights_ = std::vector<float>(100);
  double extra_ = 2.5;
};

TEST_F(CheckpointFileTest, ComesBackAsItWas) {
  SaveCheckpoint(folder_, 42, Blocks(weights_, extra_));
  std::vector<float> weights(100);
  double extra = 0;
  EXPECT_EQ(LoadCheckpoint(folder_, Blocks(weights, extra)), 42);
  EXPECT_EQ(weights, weights_);
  EXPECT_EQ(extra, 2.5);
}

TEST_F(CheckpointFileTest, NoneIsNoError) {
  EXPECT_EQ(LoadCheckpoint(folder_, Blocks(weights_, extra_)), std::nullopt);
}

TEST_F(CheckpointFileTest, OneThatWasCutOffIsRefused) {
  SaveCheckpoint(folder_, 42, Blocks(weights_, extra_));
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  EXPECT_NE(
      LoadError(Blocks(weights_, extra_)).find("the checkpoint announces 408 and contains 407"),
      std::string::npos);
}

TEST_F(CheckpointFileTest, AFlippedBitIsFound) {
  SaveCheckpoint(folder_, 42, Blocks(weights_, extra_));
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(50);
  file.put('\x7f');
  file.close();
  EXPECT_NE(LoadError(Blocks(weights_, extra_)).find("damaged"), std::string::npos);
}

TEST_F(CheckpointFileTest, OtherStateIsRefused) {
  SaveCheckpoint(folder_, 42, Blocks(weights_, extra_));
  std::vector<float> fewer(10);
  EXPECT_NE(LoadError(Blocks(fewer, extra_)).find("the state has 48 bytes"), std::string::npos);
}

}  // namespace
}  // namespace allot
