#include "live/runtimes/local/job_file.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

class JobFileTest : public testing::Test {
 protected:
  std::vector<LocalJob> Read(const std::string& text) {
    std::ofstream(path_) << text;
    return ReadJobFile(path_);
  }
  std::string Refusal(const std::string& text) {
    return ErrorOf(ExitCode::kBadData, [&] { Read(text); });
  }
  testing_support::TempFolder folder_;
  std::filesystem::path path_ = folder_ / "jobs.toml";
};

TEST_F(JobFileTest, ReadsAJobAndSurvivesTheWayThroughJson) {
  const auto jobs = Read(
      "[[job]]\nname = \"a\"\ncommand = [\"train\", \"--x\", \"$(y)\"]\ngpus = 2\nmin = 1\nmax = "
      "4\ntypes = \"a100|v100\"\nresize = \"restart\"\nwork = 100\n");
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].directory, folder_.path());
  const LocalJob again = LocalJobFromJson(ToJson(jobs[0]));
  EXPECT_EQ(again.command, jobs[0].command);
  EXPECT_EQ(again.asked.max_gpus, 4);
  EXPECT_EQ(again.asked.gpu_types, "a100|v100");
  EXPECT_EQ(again.asked.mode, ResizeMode::kRestart);
  EXPECT_EQ(again.asked.total_work, 100);
  EXPECT_EQ(again.asked.deadline, kNever);
}

TEST_F(JobFileTest, DefaultsMakeARigidHotJob) {
  const auto jobs = Read("[[job]]\ncommand = [\"x\"]\n");
  EXPECT_EQ(jobs.at(0).asked.max_gpus, 1);
  EXPECT_EQ(jobs.at(0).asked.mode, ResizeMode::kHot);
  EXPECT_TRUE(std::isnan(jobs.at(0).asked.total_work));
}

TEST_F(JobFileTest, TimesAreSecondsOrTexts) {
  const auto jobs = Read(
      "[[job]]\ncommand = [\"x\"]\ndeadline = \"2h\"\nafter = \"1m30s\"\ncooldown = \"2m\"\n"
      "[[job]]\nname = \"b\"\ncommand = [\"x\"]\ndeadline = 60\nafter = 1.5\n");
  EXPECT_EQ(jobs.at(0).asked.deadline, 7200);
  EXPECT_EQ(jobs.at(0).after, 90);
  EXPECT_EQ(jobs.at(1).asked.deadline, 60);
  EXPECT_EQ(jobs.at(1).after, 1.5);
  EXPECT_EQ(ReadJobFile(ALLOT_TEST_DATA "/cases/bug-13.toml").at(0).asked.deadline, 7200);
  EXPECT_EQ(Refusal("[[job]]\ncommand = [\"x\"]\nafter = \"soon\"\n"),
            path_.string() +
                ":1: 'after' must be a time like 90 (seconds), 250ms, 5m, 1h30m, 2d, 1 week or "
                "1-02:03:04, from 0 to 1000000000 s, got 'soon'");
  EXPECT_EQ(Refusal("[[job]]\ncommand = [\"x\"]\ndeadline = -1\n").substr(path_.string().size()),
            ":1: 'deadline' must be a time like 90 (seconds), 250ms, 5m, 1h30m, 2d, 1 week or "
            "1-02:03:04, from 0 to 1000000000000 s, got -1");
}

TEST_F(JobFileTest, OptionsOfAllClustersAreNumbersOrTexts) {
  const auto jobs = Read(
      "[[job]]\ncommand = [\"x\"]\ngpus = 2\nmax = 8\nresize = \"restart\"\npreempt = \"no\"\n"
      "grace = 30\ncooldown = \"2m\"\nmodel = \"resnet50:64\"\nwork = 1e6\n");
  const RuntimeJob asked = LocalJobFromJson(ToJson(jobs.at(0))).asked;
  EXPECT_EQ(asked.min_gpus, 2) << "as many as it asks for";
  EXPECT_EQ(asked.grace, 30);
  EXPECT_EQ(asked.cooldown, 120);
  EXPECT_FALSE(asked.preempt);
  EXPECT_EQ(asked.model, "resnet50:64");
  EXPECT_EQ(asked.total_work, 1e6);
}

TEST_F(JobFileTest, MessagesNamePlaceAndValues) {
  EXPECT_NE(Refusal("[[job]]\ncommand = [\"x\"]\ngpu = 1\n").find("did you mean 'gpus'"),
            std::string::npos);
  EXPECT_NE(Refusal("[[job]]\ncommand = \"x y\"\n").find("must be a list of words"),
            std::string::npos);
  EXPECT_NE(Refusal("[[job]]\ncommand = [\"x\"]\ngpus = 4\nmax = 2\n").find("got 4 and 2"),
            std::string::npos);
  EXPECT_NE(Refusal("[[job]]\nname = \"../x\"\ncommand = [\"x\"]\n").find("'../x'"),
            std::string::npos);
  EXPECT_NE(Refusal("[[job]]\n\ncommand = [\n").find(".toml:"), std::string::npos);
  EXPECT_NE(Refusal("[[job]]\ncommand = [\"x\"]\ntypes = \"a100|\"\n").find("got '' in 'a100|'"),
            std::string::npos);
  EXPECT_NE(Refusal("job = 3\n").find("[[job]]"), std::string::npos);
}

TEST_F(JobFileTest, FilesOfASpoolAreTakenByNameOnceAndThoseThatAreRefusedLieApart) {
  spdlog::set_level(spdlog::level::off);
  const testing_support::TempFolder spool;
  for (const char* name : {"b.toml", "a.toml", "bad.toml", "a.txt"}) std::ofstream(spool / name);
  std::vector<std::string> taken;
  const auto take = [&](const std::filesystem::path& file) {
    if (file.filename() == "bad.toml") throw DataError("no job");
    taken.push_back(file.filename());
  };
  TakeJobFiles(spool, take);
  TakeJobFiles(spool, take);
  EXPECT_EQ(taken, (std::vector<std::string>{"a.toml", "b.toml"}));
  EXPECT_TRUE(std::filesystem::exists(spool / "taken" / "a.toml"));
  EXPECT_TRUE(std::filesystem::exists(spool / "refused" / "bad.toml"));
  EXPECT_TRUE(std::filesystem::exists(spool / "a.txt")) << "no job file";
}

}  // namespace
}  // namespace allot
