#include "elastic/profile_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

constexpr BatchRange kSamples{32, 256, 4, 64};

class ProfileFolderTest : public testing::Test {
 protected:
  ProfileFolder Folder() { return {folder_ / "apps" / "mlp", "a100", 2, 0}; }
  std::string Text(const char* name) const {
    std::ifstream in(folder_ / "apps" / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // 4 steps of `batch`, each worth 32: in all 128.
  static void Train(ProfileFolder* folder, std::int64_t batch, double begin = 0) {
    GradientNoise noise;
    noise.Add(4, 16, 4 + 200.0 / 16, 4 + 200.0 / 64);
    for (double work = begin + 32; work <= 128; work += 32) {
      folder->AddStep(kSamples, batch, 32, work, 128, noise);
    }
  }
  testing_support::TempFolder folder_;
};

TEST_F(ProfileFolderTest, EachPlacementAndBatchIsWrittenOnce) {
  ProfileFolder folder = Folder();
  folder.BeginEpoch({7, 9, 7});
  folder.AddTimes(kSamples, {3, 16, 1}, {0.5, 0.75});
  folder.AddTimes(kSamples, {3, 16, 0}, {0.6, 0.8});
  folder.AddTimes(kSamples, {3, 2, 0}, {0.6, 0.8});  // below the least: nothing may train so
  Folder().BeginEpoch({1});
  ProfileFolder second = Folder();
  second.BeginEpoch({7, 9, 7});
  second.AddTimes(kSamples, {3, 16, 0}, {0.6, 0.8});
  second.AddTimes(kSamples, {3, 32, 0}, {1, 1.5});
  EXPECT_EQ(Text("mlp/placements.csv"),
            "placement,local_bsz,gpu_type,step_time,sync_time\n"
            "21,16,a100,0.75,0.25\n"
            "21,32,a100,1.5,0.5\n");
}

TEST_F(ProfileFolderTest, ACurveIsWrittenWhenItsWorkIsDone) {
  ProfileFolder large = Folder();
  Train(&large, 64);
  ProfileFolder small = Folder();
  Train(&small, 32);
  EXPECT_EQ(Text("mlp/validation.csv"),
            "batch_size,epoch,progress,iteration,grad_sqr,grad_var\n"
            "32,0,2,2,4,6.25\n"
            "32,1,4,4,4,6.25\n"
            "64,0,2,2,4,6.25\n"
            "64,1,4,4,4,6.25\n");
  EXPECT_EQ(Text("parameters.csv"),
            "application,gpu_type,init_batch_size,max_batch_size,min_local_bsz,max_local_bsz,"
            "max_epochs,total_progress,restart_seconds\n"
            "mlp,a100,32,256,4,64,2,4,2\n");
}

TEST_F(ProfileFolderTest, AnEpochThatEndsWithinAStepHasItsShareOfIt) {
  ProfileFolder folder = Folder();
  GradientNoise noise;
  noise.Add(4, 16, 4 + 200.0 / 16, 4 + 200.0 / 64);
  folder.AddStep(kSamples, 64, 48, 48, 128, noise);
  folder.AddStep(kSamples, 64, 48, 96, 128, noise);  // 64 is a third of the way
  folder.AddStep(kSamples, 64, 48, 144, 128, noise);
  EXPECT_NE(Text("mlp/validation.csv").find("64,0,2,1.333333333,"), std::string::npos)
      << Text("mlp/validation.csv");
}

TEST_F(ProfileFolderTest, ACurveThatWasNotSeenWholeOrOfSeveralBatchesIsNotWritten) {
  ProfileFolder late = Folder();
  Train(&late, 64, 64);
  ProfileFolder changed = Folder();
  GradientNoise noise;
  changed.AddStep(kSamples, 64, 64, 64, 128, noise);
  changed.AddStep(kSamples, 32, 64, 128, 128, noise);
  EXPECT_EQ(Text("mlp/validation.csv"), "");
}

TEST_F(ProfileFolderTest, AFileOfAnotherKindIsAnError) {
  std::filesystem::create_directories(folder_ / "apps" / "mlp");
  std::ofstream(folder_ / "apps" / "mlp" / "placements.csv") << "something,else\n";
  ProfileFolder folder = Folder();
  folder.BeginEpoch({1});
  EXPECT_THROW(folder.AddTimes(kSamples, {1, 16, 0}, {0.5, 0.75}), Error);
}

}  // namespace
}  // namespace allot
