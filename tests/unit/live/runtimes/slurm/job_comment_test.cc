#include "live/runtimes/slurm/job_comment.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// nullopt: not ours.
std::optional<RuntimeJob> Said(const std::string& comment) {
  RuntimeJob job;
  return ReadJobComment(comment, &job) ? std::optional(job) : std::nullopt;
}

std::string Refusal(const std::string& comment) {
  return ErrorOf(ExitCode::kBadData, [&] { Said(comment); });
}

TEST(JobComment, ReadsWhatAnElasticJobSays) {
  const auto parsed = Said("allot min=2 max=8  gpus=4 types=a100|v100 model=resnet50 work=1e6");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->min_gpus, 2);
  EXPECT_EQ(parsed->max_gpus, 8);
  EXPECT_EQ(parsed->requested, 4);
  EXPECT_EQ(parsed->gpu_types, "a100|v100");
  EXPECT_EQ(parsed->model, "resnet50");
  EXPECT_EQ(parsed->total_work, 1e6);
  EXPECT_EQ(parsed->mode, ResizeMode::kHot);
}

TEST(JobComment, DefaultsAreOneGpuThatStaysOne) {
  const auto parsed = Said("allot");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->min_gpus, 1);
  EXPECT_EQ(parsed->max_gpus, 1);
  EXPECT_EQ(parsed->requested, 1);
}

TEST(JobComment, RestartIsAModeOfItsOwn) {
  EXPECT_EQ(Said("allot max=4 resize=restart")->mode, ResizeMode::kRestart);
}

TEST(JobComment, OtherCommentsAreNotOurs) {
  EXPECT_FALSE(Said(""));
  EXPECT_FALSE(Said("my favourite job min=x"));
  EXPECT_FALSE(Said("allotment"));
}

TEST(JobComment, WhatIsWrongLeavesTheJobAsItIs) {
  RuntimeJob job;
  EXPECT_THROW(ReadJobComment("allot resize=restart max=8 min=9", &job), Error);
  EXPECT_EQ(job.mode, ResizeMode::kHot);
  EXPECT_EQ(job.max_gpus, 1);
}

struct Wrong {
  const char* comment;
  const char* message;
};

class WrongComment : public testing::TestWithParam<Wrong> {};

TEST_P(WrongComment, IsRefusedByRuleAndValue) {
  EXPECT_EQ(Refusal(GetParam().comment), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongComment,
    testing::Values(
        Wrong{"allot min=0",
              "comment: 'min' must be a whole number of GPUs from 1 to 65536, got '0'"},
        Wrong{"allot min=-1",
              "comment: 'min' must be a whole number of GPUs from 1 to 65536, got '-1'"},
        Wrong{"allot max=1e9",
              "comment: 'max' must be a whole number of GPUs from 1 to 65536, got '1e9'"},
        Wrong{"allot max=",
              "comment: 'max' must be a whole number of GPUs from 1 to 65536, got ''"},
        Wrong{"allot min=4 max=2", "comment: 'min' must be at most 'max', got 4 and 2"},
        Wrong{"allot min=2 max=4 gpus=8",
              "comment: 'gpus' must be between 'min' 2 and 'max' 4, got 8"},
        Wrong{"allot min=1 min=2", "comment: 'min' must be given once, got it twice ('1' and '2')"},
        Wrong{"allot mim=1", "comment: unknown key 'mim' (did you mean 'min'?)"},
        Wrong{"allot fast", "comment: words behind 'allot' must be key=value, got 'fast'"},
        Wrong{"allot model=$(reboot)",
              "comment: 'model' must be 1 to 64 letters, digits, '_', '-' or '.', got '$(reboot)'"},
        Wrong{"allot types=a100|",
              "comment: 'types' must be GPU types joined by '|', each 1 to 64 letters, digits, "
              "'_', '-' or '.', got '' in 'a100|'"},
        Wrong{"allot types=a100,v100",
              "comment: 'types' must be GPU types joined by '|', each 1 to 64 letters, digits, "
              "'_', '-' or '.', got 'a100,v100' in 'a100,v100'"},
        Wrong{"allot types=a|b|a",
              "comment: 'types' must name each GPU type once, got 'a' twice in 'a|b|a'"},
        Wrong{"allot resize=never", "comment: 'resize' must be hot or restart, got 'never'"},
        Wrong{"allot work=nan", "comment: 'work' must be a number > 0, got 'nan'"}));

}  // namespace
}  // namespace allot
