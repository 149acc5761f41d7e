#include "live/slurm/slurm_tags.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(SlurmTags, AJobsTagComesBack) {
  const JobTag tag{"42-67403a1b",
                   {{"42-67403a1b.0", "n1", 0xf}, {"42-67403a1b.1", "n-2", 0x30}},
                   true,
                   true,
                   1732200000};
  const auto read = ParseJobTag(ToText(tag));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->job, tag.job);
  EXPECT_TRUE(read->stopping);
  EXPECT_TRUE(read->failed);
  EXPECT_EQ(read->stopped, tag.stopped);
  ASSERT_EQ(read->shares.size(), 2U);
  EXPECT_EQ(read->shares[1].worker, "42-67403a1b.1");
  EXPECT_EQ(read->shares[1].node, "n-2");
  EXPECT_EQ(read->shares[1].gpus, 0x30U);
}

TEST(SlurmTags, AWorkersTagComesBack) {
  const auto read = ParseWorkerTag(ToText(WorkerTag{42, "42-67403a1b", "42-67403a1b.7", 8}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->user_job, 42U);
  EXPECT_EQ(read->job, "42-67403a1b");
  EXPECT_EQ(read->worker, "42-67403a1b.7");
  EXPECT_EQ(read->gpus, 8U);
}

TEST(SlurmTags, WhatIsNotWholeIsNotOurs) {
  EXPECT_FALSE(ParseJobTag(""));
  EXPECT_FALSE(ParseJobTag("allot does not place this job: comment"));
  EXPECT_FALSE(ParseJobTag("allot job="));
  EXPECT_FALSE(ParseJobTag("allot job=1-a shares=x:3@n1"));
  EXPECT_FALSE(ParseWorkerTag("elastic-of:42"));
  EXPECT_FALSE(ParseWorkerTag("elastic-of:4x job=a worker=a.1 gpus=1"));
  EXPECT_FALSE(ParseWorkerTag("elastic-of:42 job=a worker=a.1 gpus=zz"));
}

TEST(SlurmTags, AJobsNameHoldsWhenItWasSubmitted) {
  EXPECT_EQ(JobName(42, 1732200000), "42-673f4640");
  EXPECT_EQ(SubmitTimeOf("42-673f4640"), 1732200000);
}

TEST(SlurmTags, GpusAsSlurmSpellsThem) {
  EXPECT_EQ(ParseGres("gpu:v100:4(S:0-1)").count, 4);
  EXPECT_EQ(ParseGres("gpu:v100:4(S:0-1)").type, "v100");
  EXPECT_EQ(ParseGres("gres:gpu:2").count, 2);
  EXPECT_EQ(ParseGres("gres:gpu:2").type, "");
  EXPECT_EQ(ParseGres("nic:2,gpu:k80:8").count, 8);
  EXPECT_EQ(ParseGres("gpu").count, 1);
  EXPECT_EQ(ParseGres("gpu:k80").type, "k80");
  EXPECT_EQ(ParseGres("").count, 0);
}

}  // namespace
}  // namespace allot
