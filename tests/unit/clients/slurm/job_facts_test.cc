#include "clients/slurm/job_facts.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>

namespace allot {
namespace {

SlurmJob Read(const SlurmJobFacts& facts) {
  SlurmJob job;
  ReadJobFacts(facts, &job);
  return job;
}

SlurmJobStates States(std::initializer_list<const char*> words) {
  SlurmJobStates states;
  for (const char* word : words) {
    const auto state = ParseSlurmJobState(word);
    EXPECT_TRUE(state) << word;
    if (state) states.Add(*state);
  }
  return states;
}

SlurmJob ReadStates(std::initializer_list<const char*> words) {
  return Read({.states = States(words)});
}

TEST(SlurmJobFacts, StatesAndFlagsBesideThem) {
  EXPECT_EQ(ReadStates({"SUSPENDED"}).state, SlurmState::kRunning);
  EXPECT_EQ(ReadStates({"PREEMPTED"}).state, SlurmState::kCancelled) << "nobody's failure";
  EXPECT_TRUE(ReadStates({"COMPLETED"}).over());
  EXPECT_FALSE(ReadStates({"COMPLETED", "COMPLETING"}).over());
  EXPECT_FALSE(ReadStates({"FAILED", "REQUEUE_HOLD"}).ended) << "it will run again";
  EXPECT_EQ(ReadStates({"COMPLETING"}).state, SlurmState::kRunning) << "programs of 22.05";
  EXPECT_EQ(ReadStates({"COMPLETING", "REQUEUED"}).state, SlurmState::kPending);
  EXPECT_EQ(ReadStates({"RESV_DEL_HOLD"}).state, SlurmState::kPending);
  EXPECT_EQ(ReadStates({"REVOKED"}).state, SlurmState::kCancelled);
  EXPECT_EQ(ReadStates({"PENDING", "LAUNCH_FAILED"}).state, SlurmState::kPending);
}

TEST(SlurmJobFacts, AFailureSaysHowItEnded) {
  EXPECT_EQ(Read({.states = States({"FAILED"}), .exit_code = 3, .exit_signal = 9}).reason,
            "FAILED, exit code 3, signal 9");
  EXPECT_EQ(Read({.states = States({"CANCELLED"}), .exit_code = 3}).reason, "CANCELLED");
}

TEST(SlurmJobFacts, WhyAJobWaits) {
  const SlurmJob nodes =
      Read({.states = States({"PENDING"}), .reason = "Resources", .priority = 7});
  EXPECT_EQ(nodes.pending, "Resources");
  EXPECT_TRUE(nodes.elsewhere);
  EXPECT_FALSE(nodes.on_hold);
  EXPECT_FALSE(Read({.states = States({"PENDING"}), .reason = "QOSMaxGRESPerUser"}).elsewhere);
  EXPECT_EQ(Read({.states = States({"PENDING"}), .reason = "None"}).pending, kNoReason);
  EXPECT_EQ(Read({.states = States({"PENDING"}), .reason = "BeginTime"}).waits,
            "its begin time is to come");
  EXPECT_EQ(Read({.states = States({"PENDING"}), .dependency = "afterok:4"}).waits,
            "it depends on afterok:4");
  EXPECT_TRUE(Read({.states = States({"PENDING"}), .priority = 0}).on_hold);
  EXPECT_FALSE(Read({.states = States({"PENDING"})}).on_hold) << "no word of its priority";
  EXPECT_FALSE(Read({.states = States({"RUNNING"}), .priority = 0}).on_hold);
}

TEST(SlurmJobFacts, ARecordOfOneTaskIsThisTask) {
  EXPECT_EQ(Read({.states = States({"PENDING"}), .tasks = "4%2"}).task, 4);
  const SlurmJob several = Read({.states = States({"PENDING"}), .tasks = "0-2,4%2"});
  EXPECT_EQ(several.task, -1);
  EXPECT_EQ(several.tasks, "0-2,4%2");
}

TEST(SlurmJobFacts, GpusByNode) {
  using Map = std::map<std::string, std::string>;
  const SlurmJobFacts given{
      .states = States({"RUNNING"}), .hosts = {"n1", "n2"}, .gres = {"gpu:2"}};
  EXPECT_EQ(Read(given).gpus_on, (Map{{"n1", "gpu:2"}}));
  SlurmJobFacts whole = given;
  whole.whole_nodes = true;
  EXPECT_EQ(Read(whole).gpus_on, (Map{{"n1", "gpu:2"}, {"n2", ""}}));
  EXPECT_EQ(Read({.states = States({"PENDING"}), .asked_otherwise = {"cpu=2", "gres:gpu:1", ""}})
                .other_gpus,
            "gres:gpu:1");
}

}  // namespace
}  // namespace allot
