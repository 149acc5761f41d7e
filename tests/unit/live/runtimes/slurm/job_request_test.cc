#include "live/runtimes/slurm/job_request.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

SlurmJob JobWith(const std::string& comment, const std::string& gpus, std::uint32_t nodes = 1) {
  SlurmJob slurm;
  slurm.comment = comment;
  slurm.gpus = gpus;
  slurm.nodes_asked = nodes;
  return slurm;
}

std::string Refusal(const SlurmJob& slurm) {
  RuntimeJob job;
  return ErrorOf(ExitCode::kBadData, [&] { ReadRequest(slurm, &job); });
}

TEST(JobRequest, AnElasticJobIsSizedByItsComment) {
  RuntimeJob job;
  ReadRequest(JobWith("allot min=1 max=8 model=mlp", ""), &job);
  EXPECT_EQ(job.max_gpus, 8);
  EXPECT_EQ(job.mode, ResizeMode::kHot);
  EXPECT_EQ(job.model, "mlp");
}

TEST(JobRequest, MoreGpusThanAnyJobCanHaveAreRefused) {
  EXPECT_NE(Refusal(JobWith("", "gres:gpu:65536", 65536)).find("got 65536 on each of 65536 nodes"),
            std::string::npos);
}

TEST(JobRequest, AnOrdinaryJobKeepsTheSizeItAsksFor) {
  RuntimeJob job;
  ReadRequest(JobWith("for the paper", "gres:gpu:4", 2), &job);
  EXPECT_EQ(job.min_gpus, 8);
  EXPECT_EQ(job.requested, 8);
  EXPECT_EQ(job.max_gpus, 8);
  EXPECT_EQ(job.mode, ResizeMode::kRestart);
}

bool MayBeStopped(const std::string& comment, bool requeue) {
  SlurmJob slurm = JobWith(comment, "gres:gpu:4");
  slurm.requeue = requeue;
  RuntimeJob job;
  ReadRequest(slurm, &job);
  return job.preempt;
}

TEST(JobRequest, AnOrdinaryJobIsNeverStopped) {
  EXPECT_FALSE(MayBeStopped("", true));
  EXPECT_FALSE(MayBeStopped("for the paper", true));
}

TEST(JobRequest, AJobThatSaysHowItIsResizedMayBeStoppedUnlessItSaysNo) {
  EXPECT_TRUE(MayBeStopped("allot min=4 max=4 resize=restart", true));
  EXPECT_TRUE(MayBeStopped("allot min=4 max=4 resize=restart preempt=yes", true));
  EXPECT_FALSE(MayBeStopped("allot min=4 max=4 resize=restart preempt=no", true));
}

TEST(JobRequest, NoRequeueIsRespectedWhateverTheCommentSays) {
  EXPECT_FALSE(MayBeStopped("allot min=4 max=4 resize=restart preempt=yes", false));
}

TEST(JobRequest, WhatTrainsThroughItsResizesCannotRefuseThem) {
  EXPECT_EQ(Refusal(JobWith("allot min=1 max=8 preempt=no", "")),
            "comment: 'preempt=no' is for jobs with 'resize=restart', this one is resized while it "
            "trains");
  EXPECT_EQ(Refusal(JobWith("allot preempt=perhaps", "")),
            "comment: 'preempt' must be yes or no, got 'perhaps'");
}

std::string TypesOf(const SlurmJob& slurm) {
  RuntimeJob job;
  ReadRequest(slurm, &job);
  return job.gpu_types;
}

TEST(JobRequest, TypesAreThoseOfTheCommentElseThatOfTheGpus) {
  EXPECT_EQ(TypesOf(JobWith("", "gres:gpu:2")), "");
  EXPECT_EQ(TypesOf(JobWith("", "gres:gpu:v100:2")), "v100");
  EXPECT_EQ(TypesOf(JobWith("allot max=8 types=a100|v100", "")), "a100|v100");
  EXPECT_EQ(TypesOf(JobWith("allot gpus=2 max=8 resize=restart", "gres:gpu:v100:2")), "v100");
  EXPECT_EQ(TypesOf(JobWith("allot resize=restart types=v100", "gres:gpu:v100:1")), "v100");
  EXPECT_EQ(TypesOf(JobWith("allot resize=restart types=a100|v100", "gres:gpu:2")), "a100|v100");
}

TEST(JobRequest, WhatCannotBePlacedSaysWhy) {
  EXPECT_NE(Refusal(JobWith("", "")).find("must ask for GPUs"), std::string::npos);
  EXPECT_EQ(Refusal(JobWith("", "gres:gpu:a100:2,gres:gpu:v100:2")),
            "a job must ask for GPUs of one type, or of none (--gres=gpu:N) and name those that it "
            "accepts in its comment (types=a|b), got 'gres:gpu:a100:2,gres:gpu:v100:2'");
  EXPECT_EQ(Refusal(JobWith("allot resize=restart types=a100|v100", "gres:gpu:v100:2")),
            "a job that names types in its comment must ask for GPUs without one (--gres=gpu:2), "
            "got types=a100|v100 and 'gres:gpu:v100:2'");
  EXPECT_NE(Refusal(JobWith("allot max=4", "gres:gpu:v100:2")).find("(gpus=2 types=v100)"),
            std::string::npos);
  EXPECT_NE(Refusal(JobWith("allot max=4", "gres:gpu:2")).find("in its comment (gpus=2)"),
            std::string::npos);
  for (const char* shared : {"gres:shard:2", "gres:gpu:1,gres:mps:50"}) {
    EXPECT_NE(Refusal(JobWith("", shared)).find("not some that others use"), std::string::npos);
  }
}

TEST(JobRequest, PartsOfGpusAreTypesOfTheirOwn) {
  EXPECT_EQ(TypesOf(JobWith("", "gres:gpu:a100_3g.20gb:2")), "a100_3g.20gb");
  EXPECT_EQ(TypesOf(JobWith("allot max=4 types=1g.5gb|2g.10gb", "")), "1g.5gb|2g.10gb");
}

TEST(JobRequest, OnlyJobsWithoutGpusAndWithoutAWordToAllotAreSlurmsAlone) {
  EXPECT_TRUE(WantsNoGpus(JobWith("", "")));
  EXPECT_TRUE(WantsNoGpus(JobWith("for the paper", "gres:nic:1")));
  for (const char* gres : {"gres:gpu:1", "gres:gpu", "gres:shard:1", "gres:mps:10"}) {
    EXPECT_FALSE(WantsNoGpus(JobWith("", gres))) << gres;
  }
  EXPECT_FALSE(WantsNoGpus(JobWith("allot max=4", "")));
  SlurmJob job = JobWith("", "");
  job.other_gpus = "gres:gpu:1";
  EXPECT_FALSE(WantsNoGpus(job));
  job = JobWith("", "");
  job.exclusive = true;
  EXPECT_FALSE(WantsNoGpus(job)) << "it would have a node's GPUs to itself";
}

TEST(JobRequest, WhatSlurmWouldGiveBesideAllotIsRefused) {
  for (const char* comment : {"allot max=4", "allot max=4 resize=restart", ""}) {
    SlurmJob job = JobWith(comment, "");
    job.other_gpus = "gres:gpu:4";
    EXPECT_EQ(Refusal(job),
              "a job must ask for GPUs by --gres=gpu:N or in its comment, not by --gpus, "
              "--gpus-per-task or --gpus-per-socket, got 'gres:gpu:4'");
    SlurmJob whole = JobWith(comment, *comment == '\0' ? "gres:gpu:1" : "");
    whole.exclusive = true;
    EXPECT_NE(Refusal(whole).find("without --exclusive"), std::string::npos);
    SlurmJob part = JobWith(comment, "");
    part.part = true;
    EXPECT_NE(Refusal(part).find("heterogeneous"), std::string::npos);
  }
}

}  // namespace
}  // namespace allot
