#include "live/runtimes/slurm/array_tasks.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

SlurmJob Array(const std::string& tasks, std::uint32_t at_most = 0) {
  SlurmJob array;
  array.id = array.array = 10;
  array.tasks = tasks;
  array.at_most = at_most;
  return array;
}

SlurmJob Task(std::int64_t task, SlurmState state) {
  SlurmJob job;
  job.id = 20 + static_cast<std::uint32_t>(task);
  job.array = 10;
  job.task = task;
  job.state = state;
  return job;
}

SlurmJobs Listed(const std::vector<SlurmJob>& records) {
  SlurmJobs jobs;
  for (const SlurmJob& job : records) jobs.push_back(std::make_shared<const SlurmJob>(job));
  return jobs;
}

std::string SplitOf(const SlurmJob& array, std::vector<SlurmJob> tasks = {}) {
  tasks.push_back(array);
  const auto split = TasksToSplit(Listed(tasks), Listed({array}));
  return split.contains(10) ? split.at(10) : "";
}

TEST(ArrayTasks, AFewAreSplitOffAhead) {
  EXPECT_EQ(SplitOf(Array("0-2")), "10_[0,1]") << "the third is left alone, so a job of its own";
  EXPECT_TRUE(SplitOf(Array("0-99")).ends_with(",30,31]"));
  std::vector<SlurmJob> waiting;
  waiting.reserve(32);
  for (int task = 0; task < 31; ++task) waiting.push_back(Task(task, SlurmState::kPending));
  EXPECT_EQ(SplitOf(Array("31-99"), waiting), "10_[31]");
  waiting.push_back(Task(31, SlurmState::kPending));
  EXPECT_EQ(SplitOf(Array("32-99"), waiting), "");
}

TEST(ArrayTasks, NoMoreThanTheArrayMayRunAtATime) {
  EXPECT_EQ(SplitOf(Array("0-9%2", 2)), "10_[0,1]");
  EXPECT_EQ(
      SplitOf(Array("2-9%2", 2), {Task(0, SlurmState::kRunning), Task(1, SlurmState::kPending)}),
      "");
  EXPECT_EQ(
      SplitOf(Array("2-9%2", 2), {Task(0, SlurmState::kCompleted), Task(1, SlurmState::kRunning)}),
      "10_[2]");
}

TEST(ArrayTasks, TasksBeyondTheLimitWaitTheirTurn) {
  std::vector<SlurmJob> jobs = {Task(0, SlurmState::kRunning), Task(3, SlurmState::kPending),
                                Task(2, SlurmState::kPending)};
  jobs[0].partition = "main";
  for (SlurmJob& job : jobs) job.at_most = 2;
  jobs[1].partition = jobs[2].partition = "elastic";
  EXPECT_EQ(TasksBeyondLimit(Listed(jobs), "elastic"), (std::set<std::uint32_t>{23}));
  jobs[0].state = SlurmState::kCompleted;
  EXPECT_TRUE(TasksBeyondLimit(Listed(jobs), "elastic").empty());
  jobs[0].state = SlurmState::kRunning;
  for (SlurmJob& job : jobs) job.at_most = 0;
  EXPECT_TRUE(TasksBeyondLimit(Listed(jobs), "elastic").empty());
}

TEST(ArrayTasks, WhatIsHeldOrDependsOnOthersWaitsTogether) {
  SlurmJob held = Array("0-9");
  held.on_hold = true;
  EXPECT_EQ(SplitOf(held), "");
  SlurmJob later = Array("0-9");
  later.waits = "its begin time is to come";
  EXPECT_EQ(SplitOf(later), "");
}

}  // namespace
}  // namespace allot
