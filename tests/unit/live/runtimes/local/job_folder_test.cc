#include "live/runtimes/local/job_folder.h"

#include <gtest/gtest.h>

#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

class JobFolderTest : public testing::Test {
 protected:
  static LocalJob SomeJob() {
    LocalJob job;
    job.asked.id = "a-2";
    job.asked.name = "a";
    job.command = {"train", "--x"};
    job.directory = "/somewhere";
    return job;
  }

  testing_support::TempFolder state_;
  const LocalJobFolder folder_{state_ / "jobs" / "a-2"};
};

TEST_F(JobFolderTest, AJobIsFoundAsItWasMade) {
  EXPECT_FALSE(folder_.complete());
  folder_.Create(SomeJob(), "secret", "jobs.toml@1#0");
  ASSERT_TRUE(folder_.complete());
  const LocalJob job = folder_.ReadJob();
  EXPECT_EQ(job.asked.id, "a-2");
  EXPECT_EQ(job.command, SomeJob().command);
  EXPECT_EQ(job.asked.state, JobState::kActive);
  EXPECT_EQ(folder_.ReadToken(), "secret");
  EXPECT_EQ(folder_.ReadSource(), "jobs.toml@1#0");
  EXPECT_TRUE(folder_.ReadWorkers().empty());
  EXPECT_TRUE(std::filesystem::is_directory(folder_.run()));
}

TEST_F(JobFolderTest, OnlyItsOwnerReadsTheToken) {
  folder_.Create(SomeJob(), "secret", "");
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(state_ / "jobs" / "a-2" / "token").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(JobFolderTest, TheEndOfAJobStays) {
  folder_.Create(SomeJob(), "secret", "");
  folder_.WriteEnd(JobState::kFailed, "no such program");
  const LocalJob job = folder_.ReadJob();
  EXPECT_EQ(job.asked.state, JobState::kFailed);
  EXPECT_EQ(job.asked.reason, "no such program");
}

TEST_F(JobFolderTest, WorkersAreFoundUntilTheirEndWasShown) {
  folder_.Create(SomeJob(), "secret", "");
  folder_.WriteWorker("a-2.0", {.process = {17, 400}, .node = "n1", .gpus = 0x5});
  folder_.WriteWorker("a-2.1", {.process = {18, 401}, .node = "n2", .gpus = 0x1});
  folder_.MarkStopped("a-2.1");
  auto workers = folder_.ReadWorkers();
  ASSERT_EQ(workers.size(), 2U);
  EXPECT_EQ(workers["a-2.0"].process.pid, 17);
  EXPECT_EQ(workers["a-2.0"].process.started, 400U);
  EXPECT_EQ(workers["a-2.0"].node, "n1");
  EXPECT_EQ(workers["a-2.0"].gpus, 0x5U);
  EXPECT_FALSE(workers["a-2.0"].stopped);
  EXPECT_TRUE(workers["a-2.1"].stopped);
  folder_.Retire("a-2.0");
  workers = folder_.ReadWorkers();
  EXPECT_EQ(workers.size(), 1U);
  EXPECT_TRUE(workers.contains("a-2.1"));
}

}  // namespace
}  // namespace allot
