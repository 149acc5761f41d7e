#include "live/slurm/slurm_words.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

#include "live/runtime.h"

namespace allot {
namespace {

SlurmJob Read(const SlurmJobWords& words) {
  SlurmJob job;
  ReadWords(words, &job);
  return job;
}

TEST(SlurmWords, StatesAndWhatIsSetBesideThem) {
  EXPECT_EQ(Read({.state = {"SUSPENDED"}}).state, SlurmState::kRunning);
  EXPECT_EQ(Read({.state = {"PREEMPTED"}}).state, SlurmState::kFailed);
  EXPECT_TRUE(Read({.state = {"COMPLETED"}}).over());
  EXPECT_FALSE(Read({.state = {"COMPLETED", "COMPLETING"}}).over());
  EXPECT_FALSE(Read({.state = {"FAILED", "REQUEUE_HOLD"}}).ended) << "it will run again";
  EXPECT_EQ(Read({.state = {"COMPLETING"}}).state, SlurmState::kRunning) << "programs of 22.05";
  EXPECT_EQ(Read({.state = {"RESV_DEL_HOLD"}}).state, SlurmState::kPending);
}

TEST(SlurmWords, AFailureSaysHowItEnded) {
  EXPECT_EQ(Read({.state = {"FAILED"}, .exit_code = 3, .exit_signal = 9}).reason,
            "FAILED, exit code 3, signal 9");
  EXPECT_EQ(Read({.state = {"CANCELLED"}, .exit_code = 3}).reason, "CANCELLED");
}

TEST(SlurmWords, WhyAJobWaits) {
  const SlurmJob nodes = Read({.state = {"PENDING"}, .reason = "Resources", .priority = 7});
  EXPECT_EQ(nodes.pending, "Resources");
  EXPECT_TRUE(nodes.elsewhere);
  EXPECT_FALSE(nodes.on_hold);
  EXPECT_FALSE(Read({.state = {"PENDING"}, .reason = "QOSMaxGRESPerUser"}).elsewhere);
  EXPECT_EQ(Read({.state = {"PENDING"}, .reason = "None"}).pending, kNoWord);
  EXPECT_EQ(Read({.state = {"PENDING"}, .reason = "BeginTime"}).waits, "its begin time is to come");
  EXPECT_EQ(Read({.state = {"PENDING"}, .dependency = "afterok:4"}).waits,
            "it depends on afterok:4");
  EXPECT_TRUE(Read({.state = {"PENDING"}, .priority = 0}).on_hold);
  EXPECT_FALSE(Read({.state = {"PENDING"}}).on_hold) << "no word of its priority";
  EXPECT_FALSE(Read({.state = {"RUNNING"}, .priority = 0}).on_hold);
}

TEST(SlurmWords, ARecordOfOneTaskIsThisTask) {
  EXPECT_EQ(Read({.state = {"PENDING"}, .tasks = "4%2"}).task, 4);
  const SlurmJob several = Read({.state = {"PENDING"}, .tasks = "0-2,4%2"});
  EXPECT_EQ(several.task, -1);
  EXPECT_EQ(several.tasks, "0-2,4%2");
}

TEST(SlurmWords, GpusByNode) {
  using Map = std::map<std::string, std::string>;
  const SlurmJobWords given{.state = {"RUNNING"}, .hosts = {"n1", "n2"}, .gres = {"gpu:2"}};
  EXPECT_EQ(Read(given).gpus_on, (Map{{"n1", "gpu:2"}}));
  SlurmJobWords whole = given;
  whole.whole_nodes = true;
  EXPECT_EQ(Read(whole).gpus_on, (Map{{"n1", "gpu:2"}, {"n2", ""}}));
  EXPECT_EQ(Read({.state = {"PENDING"}, .asked_otherwise = {"cpu=2", "gres:gpu:1", ""}}).other_gpus,
            "gres:gpu:1");
}

TEST(SlurmWords, NodesThatBeginJobs) {
  const auto is_up = [](const std::vector<std::string_view>& state) {
    SlurmNode node;
    ReadWords(state, &node);
    return node.up;
  };
  EXPECT_TRUE(is_up({"MIXED", "NOT_RESPONDING"}));
  EXPECT_FALSE(is_up({"IDLE", "DRAIN"}));
  EXPECT_FALSE(is_up({"DOWN"}));
  SlurmNode node;
  ReadWords({"UNKNOWN"}, &node);
  EXPECT_TRUE(node.unknown && !node.up);
}

TEST(SlurmWords, NodesThatAreDrainedAndLive) {
  const auto is_drained = [](const std::vector<std::string_view>& state) {
    SlurmNode node;
    ReadWords(state, &node);
    return node.drained;
  };
  EXPECT_TRUE(is_drained({"IDLE", "DRAIN"}));
  EXPECT_TRUE(is_drained({"MIXED", "DRAIN"})) << "what runs there is to leave it";
  EXPECT_FALSE(is_drained({"DOWN", "DRAIN"}));
  EXPECT_TRUE(is_drained({"IDLE", "MAINTENANCE"})) << "`maintenance` is a window of allot's rules";
  EXPECT_FALSE(is_drained({"DOWN", "MAINTENANCE"}));
  EXPECT_FALSE(is_drained({"IDLE"}));
}

TEST(SlurmWords, LargeLimitsAreNone) {
  EXPECT_EQ(LimitOf(0), 0);
  EXPECT_EQ(LimitOf(8), 8);
  EXPECT_EQ(LimitOf(std::numeric_limits<std::uint64_t>::max()), -1);
}

}  // namespace
}  // namespace allot
