#include "live/runtimes/slurm/slurm_tags.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(SlurmTags, AJobsTagComesBack) {
  const JobTag tag{"42-67403a1b",
                   AskedTag{8, 16, kMemoryPerCpu | 3000, "a100&(nvlink|x)"},
                   {{"42-67403a1b.0", "n1", 0xf}, {"42-67403a1b.1", "n-2", 0x30}},
                   true,
                   true,
                   "its workers failed 6 times: of 6",
                   1732200000,
                   "dp=2 tp=4"};
  const auto read = ParseJobTag(ToText(tag));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->job, tag.job);
  ASSERT_TRUE(read->asked);
  EXPECT_EQ(read->asked->cpus_per_task, 8);
  EXPECT_EQ(read->asked->cpus_per_node, 16U);
  EXPECT_EQ(read->asked->memory, kMemoryPerCpu | 3000);
  EXPECT_EQ(read->asked->constraint, "a100&(nvlink|x)");
  EXPECT_TRUE(read->stopping);
  EXPECT_TRUE(read->failed);
  EXPECT_EQ(read->why, "its workers failed 6 times: of 6");
  EXPECT_EQ(read->stopped, tag.stopped);
  EXPECT_EQ(read->plan, tag.plan);
  ASSERT_EQ(read->shares.size(), 2U);
  EXPECT_EQ(read->shares[1].worker, "42-67403a1b.1");
  EXPECT_EQ(read->shares[1].node, "n-2");
  EXPECT_EQ(read->shares[1].gpus, 0x30U);
}

// Spaces would end the tag's word.
TEST(SlurmTags, AConstraintWithSpacesComesBackWithoutThem) {
  SlurmJob job;
  job.constraint = "a100 & nvlink";
  const auto read = ParseJobTag(ToText(JobTag{.job = "1-a", .asked = AskedBy(job)}));
  ASSERT_TRUE(read && read->asked);
  EXPECT_EQ(read->asked->constraint, "a100&nvlink");
}

TEST(SlurmTags, AWorkersTagComesBack) {
  const auto read = ParseWorkerTag(ToText(WorkerTag{42, "42-67403a1b", "42-67403a1b.7", 8}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->user_job, 42U);
  EXPECT_EQ(read->job, "42-67403a1b");
  EXPECT_EQ(read->worker, "42-67403a1b.7");
  EXPECT_EQ(read->gpus, 8U);
}

TEST(SlurmTags, AJobSettlesWhileItIsStoppedAndInTheSecondOfItsRequeue) {
  EXPECT_FALSE(IsSettling({.job = "a"}, 1'000'000));
  EXPECT_TRUE(IsSettling({.job = "a", .stopping = true}, 1'000'000));
  const auto settles = [](double requeued, double now) {
    return IsSettling({.job = "a", .stopped = SecondOfRequeue(requeued)}, now);
  };
  EXPECT_TRUE(settles(1'000'000.5, 1'000'000.5));
  EXPECT_TRUE(settles(1'000'000.5, 1'000'001.2)) << "the controller's clock may be behind";
  EXPECT_FALSE(settles(1'000'000.5, 1'000'001.3));
  EXPECT_TRUE(settles(1'000'000.8, 1'000'001.3)) << "the controller's clock may be ahead";
  EXPECT_TRUE(settles(1'000'000.8, 1'000'000.8));
  EXPECT_FALSE(settles(1'000'000.5, 999'998)) << "the clock was set back";
}

TEST(SlurmTags, WhatIsNotWholeIsNotOurs) {
  EXPECT_FALSE(ParseJobTag(""));
  EXPECT_FALSE(ParseJobTag("allot does not place this job: comment"));
  EXPECT_FALSE(ParseJobTag("allot job="));
  EXPECT_FALSE(ParseJobTag("allot job=1-a shares=x:3@n1"));
  EXPECT_FALSE(ParseWorkerTag("elastic-of:42"));
  EXPECT_FALSE(ParseWorkerTag("elastic-of:4x job=a worker=a.1 gpus=1"));
  EXPECT_FALSE(ParseWorkerTag("elastic-of:42 job=a worker=a.1 gpus=zz"));
  for (const char* worker : {"b.1", "a", "a.", "a.x", "ab.1", "a.1.2"}) {
    EXPECT_FALSE(ParseWorkerTag(fmt::format("elastic-of:42 job=a worker={} gpus=1", worker)))
        << worker << " is not named for job a";
  }
}

TEST(SlurmTags, AJobsNameHoldsWhenItWasSubmitted) {
  EXPECT_EQ(JobName("42", 1732200000), "42-673f4640");
  EXPECT_EQ(SubmitTimeOf("42-673f4640"), 1732200000);
  EXPECT_EQ(SubmitTimeOf(JobName("10_2", 1732200000)), 1732200000);
}

}  // namespace
}  // namespace allot
