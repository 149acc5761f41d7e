#include "elastic/job_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/other_user.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

namespace fs = std::filesystem;
using testing_support::AsOtherUser;

// The victim is this process, in a submit folder that the other user's group may write to.
class JobFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, for another user";
    ASSERT_EQ(::chown(temp_.path().c_str(), 0, testing_support::kOtherUser), 0);
    ASSERT_EQ(::chmod(temp_.path().c_str(), 02770), 0);
    ::setenv("SLURM_JOB_ID", "7", 1);
    ::setenv("SLURM_SUBMIT_DIR", temp_.string().c_str(), 1);
    ::unsetenv("SLURM_RESTART_COUNT");
  }
  void TearDown() override {
    ::unsetenv("SLURM_JOB_ID");
    ::unsetenv("SLURM_SUBMIT_DIR");
  }
  // The other user puts an own, open folder in the place of the job's.
  void Exchange() const {
    AsOtherUser([&] {
      ::umask(0);
      fs::rename(user_, temp_ / "away");
      return fs::create_directories(run_dir_);
    });
  }

  testing_support::TempFolder temp_;
  fs::path user_ = temp_ / ".allot-0";
  fs::path run_dir_ = user_ / "7";
};

TEST_F(JobFolderTest, SecretsStayInTheFolderThatWasChecked) {
  const OwnedFolder folder = MakeJobFolder();
  Exchange();
  folder.Write(kOrder, "secret");
  EXPECT_FALSE(fs::exists(run_dir_ / kOrder));
  EXPECT_EQ(OpenJobFolder(temp_ / "away" / "7")->Read(kOrder), "secret");
}

TEST_F(JobFolderTest, ProgramRefusesAnExchangedFolder) {
  (void)MakeJobFolder();
  Exchange();
  ExpectError(ExitCode::kRunFailed, {".allot-0", "of user 65534"},
              [&] { OpenRunFolder(run_dir_); });
}

TEST_F(JobFolderTest, ProgramStartsNothingAnewWhereItsFolderIsGone) {
  (void)MakeJobFolder();
  AsOtherUser([&] {
    fs::rename(user_, temp_ / "away");
    return true;
  });
  ExpectError(ExitCode::kRunFailed, {run_dir_.string(), "removed or renamed"},
              [&] { OpenRunFolder(run_dir_); });
}

TEST_F(JobFolderTest, LinkInThePlaceOfTheUsersFolderIsRefused) {
  fs::create_directories(temp_ / "own" / "7");
  AsOtherUser([&] {
    fs::create_symlink("own", user_);
    return true;
  });
  ExpectError(ExitCode::kRunFailed, {".allot-0"}, [&] { OpenRunFolder(run_dir_); });
  ExpectError(ExitCode::kRunFailed, {".allot-0"}, [] { MakeJobFolder(); });
}

TEST_F(JobFolderTest, FirstStartRemovesOnlyItsOwnFiles) {
  fs::create_directories(temp_ / "results" / "7");
  std::ofstream(temp_ / "results" / "7" / "precious") << "precious";
  AsOtherUser([&] {
    fs::rename(temp_ / "results", user_);
    return true;
  });
  (void)MakeJobFolder();
  EXPECT_EQ(testing_support::Bytes(run_dir_ / "precious"), "precious");
}

TEST_F(JobFolderTest, RestartKeepsItsFiles) {
  MakeJobFolder().Write(kCheckpoint, "state");
  ::setenv("SLURM_RESTART_COUNT", "1", 1);
  EXPECT_EQ(MakeJobFolder().Read(kCheckpoint), "state");
  ::unsetenv("SLURM_RESTART_COUNT");
  EXPECT_EQ(MakeJobFolder().Read(kCheckpoint), std::nullopt);
}

TEST_F(JobFolderTest, SubmitFolderWhereEverybodyMayRenameIsRefused) {
  ASSERT_EQ(::chmod(temp_.path().c_str(), 0777), 0);
  ExpectError(ExitCode::kRunFailed, {temp_.string(), "chmod +t " + temp_.string()},
              [] { MakeJobFolder(); });
  ASSERT_EQ(::chmod(temp_.path().c_str(), 01777), 0);
  (void)MakeJobFolder();
}

TEST_F(JobFolderTest, OtherFoldersAreThePlatforms) {
  fs::create_directory(temp_ / "volume");
  ASSERT_EQ(::chmod((temp_ / "volume").c_str(), 02777), 0);
  OpenRunFolder(temp_ / "volume").Write(kCheckpoint, "state");
  OpenRunFolder(temp_ / "volume" / "new").Write(kCheckpoint, "state");
}

}  // namespace
}  // namespace allot
