#include "models/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "core/error.h"
#include "models/index_net.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr IndexNetShape kShape{3, 5, 4, 2};

Checkpoint Sample() {
  Checkpoint checkpoint;
  checkpoint.feature_version = 1;
  checkpoint.weights = InitIndexNet(kShape, 9);
  checkpoint.weights[index_net::kOutBias].data = {0.25F, -1.0F};
  AdamState adam;
  for (int i = 0; i < 3; ++i) {
    AdamStep(checkpoint.weights.tensors, 0.01, {}, &checkpoint.weights.tensors, &adam);
  }
  checkpoint.adam = adam;
  checkpoint.state = {
      {"iteration", 12}, {"episodes", 12345678901234}, {"history", {0.1, 1.0 / 3.0, 1e-300}}};
  checkpoint.config = {{"cluster", "16x4"}, {"seed", 7}};
  checkpoint.card = "# A small network\n";
  return checkpoint;
}

std::string Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void Write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class CheckpointTest : public testing::Test {
 protected:
  std::string path() const { return (root_ / "checkpoint").string(); }

  std::string LoadFault() const {
    return ErrorOf(ExitCode::kBadData, [&] { LoadCheckpoint(path()); });
  }

  testing_support::TempFolder root_;
};

TEST_F(CheckpointTest, RoundTripKeepsEverything) {
  const Checkpoint saved = Sample();
  SaveCheckpoint(saved, path());
  const Checkpoint loaded = LoadCheckpoint(path());
  EXPECT_EQ(loaded.feature_version, saved.feature_version);
  EXPECT_EQ(loaded.weights, saved.weights);
  EXPECT_EQ(loaded.adam, saved.adam);
  EXPECT_EQ(loaded.state, saved.state);
  EXPECT_EQ(loaded.config, saved.config);
  EXPECT_EQ(loaded.card, saved.card);
}

TEST_F(CheckpointTest, SavingWhatWasLoadedGivesTheSameBytes) {
  SaveCheckpoint(Sample(), path());
  const fs::path again = root_ / "again";
  SaveCheckpoint(LoadCheckpoint(path()), again.string());
  int files = 0;
  for (const auto& entry : fs::directory_iterator(path())) {
    EXPECT_EQ(Read(entry.path()), Read(again / entry.path().filename())) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 6);
}

TEST_F(CheckpointTest, AdamIsOptional) {
  Checkpoint checkpoint = Sample();
  checkpoint.adam.reset();
  SaveCheckpoint(checkpoint, path());
  EXPECT_FALSE(fs::exists(fs::path(path()) / "optimizer.safetensors"));
  EXPECT_FALSE(LoadCheckpoint(path()).adam.has_value());
}

TEST_F(CheckpointTest, AdamBeforeItsFirstStepSurvives) {
  Checkpoint checkpoint = Sample();
  checkpoint.adam = AdamState{};
  SaveCheckpoint(checkpoint, path());
  EXPECT_EQ(LoadCheckpoint(path()).adam, AdamState{});
}

TEST_F(CheckpointTest, ReplacesAnOlderOne) {
  SaveCheckpoint(Sample(), path());
  Checkpoint newer = Sample();
  newer.adam.reset();
  newer.state["iteration"] = 13;
  SaveCheckpoint(newer, path());
  EXPECT_EQ(LoadCheckpoint(path()).state["iteration"], 13);
}

TEST_F(CheckpointTest, AnyFlippedByteIsFound) {
  SaveCheckpoint(Sample(), path());
  for (const char* name :
       {"model.safetensors", "optimizer.safetensors", "state.json", "config.json"}) {
    const fs::path file = fs::path(path()) / name;
    const std::string bytes = Read(file);
    const std::size_t stride = std::max<std::size_t>(1, bytes.size() / 150);
    for (std::size_t i = 0; i < bytes.size(); i += stride) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      Write(file, damaged);
      const std::string fault = LoadFault();
      EXPECT_NE(fault.find(std::string(name) + ": damaged: checksum must be fnv1a64:"),
                std::string::npos)
          << "byte " << i << ": " << fault;
    }
    Write(file, bytes);
  }
  EXPECT_EQ(LoadFault(), "");
}

TEST_F(CheckpointTest, TruncatedFilesAreNamedWithBothSizes) {
  SaveCheckpoint(Sample(), path());
  const fs::path file = fs::path(path()) / "model.safetensors";
  const std::string bytes = Read(file);
  Write(file, bytes.substr(0, 100));
  EXPECT_EQ(LoadFault(), file.string() + ": must have " + std::to_string(bytes.size()) +
                             " bytes by manifest.json, got 100");
  Write(file, "");
  EXPECT_NE(LoadFault().find("got 0"), std::string::npos);
}

TEST_F(CheckpointTest, TheFolderOfARunHasASuggestion) {
  SaveCheckpoint(Sample(), path() + "/best");
  EXPECT_NE(LoadFault().find("(did you mean '" + path() + "/best'?)"), std::string::npos)
      << LoadFault();
}

TEST_F(CheckpointTest, MissingFilesAreNamed) {
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "state.json",
                           "config.json", "manifest.json"}) {
    SaveCheckpoint(Sample(), path());
    fs::remove(fs::path(path()) / name);
    EXPECT_EQ(LoadFault(), path() + ": a checkpoint needs a readable file '" + name + "'");
  }
}

TEST_F(CheckpointTest, TheCardIsForPeopleAndMayBeMissing) {
  SaveCheckpoint(Sample(), path());
  fs::remove(fs::path(path()) / "card.md");
  EXPECT_EQ(LoadCheckpoint(path()).card, "");
}

TEST_F(CheckpointTest, FilesOfTwoCheckpointsDoNotMix) {
  SaveCheckpoint(Sample(), path());
  Checkpoint other = Sample();
  other.weights[index_net::kOutBias].data[0] += 1.0F;
  const fs::path other_path = root_ / "other";
  SaveCheckpoint(other, other_path.string());
  fs::copy_file(other_path / "model.safetensors", fs::path(path()) / "model.safetensors",
                fs::copy_options::overwrite_existing);
  EXPECT_NE(LoadFault().find("model.safetensors: damaged"), std::string::npos);
}

TEST_F(CheckpointTest, OptimizerStateThatTheManifestDoesNotListIsNotIgnored) {
  Checkpoint checkpoint = Sample();
  checkpoint.adam.reset();
  SaveCheckpoint(checkpoint, path());
  Write(fs::path(path()) / "optimizer.safetensors", "stray");
  EXPECT_EQ(LoadFault(), path() + "/manifest.json: lists no file 'optimizer.safetensors'");
}

TEST_F(CheckpointTest, AbsentAndPlainFilesAreNoCheckpoints) {
  EXPECT_EQ(LoadFault(), path() + ": no such checkpoint");
  Write(path(), "text");
  EXPECT_EQ(LoadFault(), path() + ": a checkpoint must be a folder, got a file");
}

TEST_F(CheckpointTest, LaterFormatVersionsAreRefused) {
  SaveCheckpoint(Sample(), path());
  const fs::path manifest = fs::path(path()) / "manifest.json";
  std::string text = Read(manifest);
  const std::string version = "\"version\": 1";
  ASSERT_NE(text.find(version), std::string::npos);
  text.replace(text.find(version), version.size(), "\"version\": 2");
  Write(manifest, text);
  EXPECT_EQ(LoadFault(),
            manifest.string() + ": checkpoint format has version 2, this allot reads 1");
}

TEST_F(CheckpointTest, WeightsThatAreNotFiniteAreNotSaved) {
  SaveCheckpoint(Sample(), path());
  Checkpoint diverged = Sample();
  diverged.weights[index_net::kOutJob].data[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(ErrorOf(ExitCode::kRunFailed, [&] { SaveCheckpoint(diverged, path()); }),
            path() + ": not saved: value 2 of tensor 'out.job' must be finite, got nan");
  EXPECT_EQ(LoadCheckpoint(path()).weights, Sample().weights);
}

// A disk that fills up while the checkpoint is written, as a limit on file sizes.
TEST_F(CheckpointTest, AWriteThatFailsMidWayLeavesWhatWasThere) {
  Checkpoint large = Sample();
  large.state["history"] = std::vector<double>(10000, 0.125);
  const auto save_on_full_disk = [&] {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit tight = before;
    tight.rlim_cur = 16384;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &tight);
    std::string fault = "saved";
    try {
      SaveCheckpoint(large, path());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kRunFailed);
      fault = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    return fault;
  };
  EXPECT_NE(save_on_full_disk(), "saved");
  EXPECT_TRUE(fs::is_empty(root_)) << "something was left behind";

  SaveCheckpoint(Sample(), path());
  EXPECT_NE(save_on_full_disk(), "saved");
  EXPECT_EQ(LoadCheckpoint(path()).state, Sample().state);
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 1);
}

TEST_F(CheckpointTest, WhatATrainerRemembersIsKept) {
  Checkpoint checkpoint = Sample();
  checkpoint.memory["critic.bias"] = {{2}, {1.5F, -2.0F}};
  SaveCheckpoint(checkpoint, path());
  EXPECT_EQ(LoadCheckpoint(path()).memory, checkpoint.memory);
  fs::remove(fs::path(path()) / "memory.safetensors");
  EXPECT_EQ(LoadFault(), path() + ": a checkpoint needs a readable file 'memory.safetensors'");
}

TEST(RequireFeatureVersion, NamesWhatTheCheckpointHasAndWhatIsNeeded) {
  RequireFeatureVersion(Sample(), 1, "c");
  EXPECT_EQ(ErrorOf(ExitCode::kBadData, [&] { RequireFeatureVersion(Sample(), 2, "c"); }),
            "c: checkpoint has feature version 1, this allot needs 2");
}

}  // namespace
}  // namespace allot
