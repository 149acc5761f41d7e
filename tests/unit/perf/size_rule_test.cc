#include "perf/size_rule.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "perf/table_cache.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

SizeRule Rule(const std::string& text) { return SizeRule::Parse(text, "file:1"); }

std::vector<GpuCount> AllowedUpTo(const std::string& rule, GpuCount most, GpuCount node_gpus) {
  std::vector<GpuCount> sizes;
  for (GpuCount gpus = 1; gpus <= most; ++gpus) {
    if (Rule(rule).Allows(gpus, node_gpus)) sizes.push_back(gpus);
  }
  return sizes;
}

TEST(SizeRuleTest, EachRuleAllowsItsSizes) {
  using Sizes = std::vector<GpuCount>;
  EXPECT_EQ(AllowedUpTo("any", 4, 4), (Sizes{1, 2, 3, 4}));
  EXPECT_EQ(AllowedUpTo("powers-of-two", 40, 4), (Sizes{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(AllowedUpTo("node-multiples", 13, 4), (Sizes{1, 2, 3, 4, 8, 12}));
  EXPECT_EQ(AllowedUpTo("12|1|3|3", 40, 4), (Sizes{1, 3, 12}));
  EXPECT_EQ(AllowedUpTo("powers-of-two+node-multiples", 40, 6), (Sizes{1, 2, 4}));
  EXPECT_EQ(AllowedUpTo("1|2|3|4+2|3|9", 40, 4), (Sizes{2, 3}));
}

TEST(SizeRuleTest, TextsAreReadBackEqual) {
  for (const char* text : {"any", "powers-of-two", "1|3|12", "powers-of-two+node-multiples+1|2"}) {
    EXPECT_EQ(Rule(text).ToString(), text);
  }
}

TEST(SizeRuleTest, WhatIsNoneIsNamed) {
  for (const char* text : {"", "even", "1|x", "0|1", "1||2", "powers-of-two+"}) {
    EXPECT_THROW(Rule(text), Error) << text;
  }
  EXPECT_EQ(ErrorOf(ExitCode::kBadData, [&] { Rule("powers-of-two+even"); }),
            "file:1: sizes must be any, powers-of-two, node-multiples or numbers of GPUs from 1 "
            "to 32767 joined by '|', got 'even'");
}

class SizedTables : public testing::Test {
 protected:
  static Job MakeJob(GpuCount gpus, GpuCount lowest, GpuCount highest) {
    Job job;
    job.id = "app_17";
    job.gpus = gpus;
    job.min_gpus = lowest;
    job.max_gpus = highest;
    job.duration = 100;
    return job;
  }
  std::vector<int> Counts(const Job& job, const std::string& sizes) {
    std::vector<int> counts;
    const auto table = cache_.TableFor(workload_, job, Rule(sizes));
    for (const Configuration& c : table->configurations()) counts.push_back(c.units.of(0));
    return counts;
  }
  Workload workload_;
  TableCache cache_{Catalogue::Embedded(), {{.name = "gpu", .gpus = 64, .node_gpus = 6}}};
};

TEST_F(SizedTables, HoldWhatTheRuleAllows) {
  EXPECT_EQ(Counts(MakeJob(2, 1, 40), "powers-of-two"), (std::vector<int>{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(Counts(MakeJob(2, 2, 20), "node-multiples"), (std::vector<int>{2, 3, 4, 5, 6, 12, 18}))
      << "18 is not on the grid";
  EXPECT_EQ(Counts(MakeJob(2, 2, 20), "1|2|9|10|30"), (std::vector<int>{2, 9, 10}));
}

TEST_F(SizedTables, TheRequestedSizeIsTheNearestThatIsAllowed) {
  const auto requested = [&](const Job& job, const std::string& sizes) {
    const auto table = cache_.TableFor(workload_, job, Rule(sizes));
    return (*table)[cache_.RequestedOf(workload_, job, Rule(sizes))].units.of(0);
  };
  EXPECT_EQ(requested(MakeJob(3, 1, 8), "powers-of-two"), 2);
  EXPECT_EQ(requested(MakeJob(3, 3, 8), "powers-of-two"), 4);
  EXPECT_EQ(requested(MakeJob(4, 1, 8), "powers-of-two"), 4);
}

TEST_F(SizedTables, WorkIsThatOfTheSizeThatWasAskedFor) {
  workload_.models.Intern("resnet50:64");
  Job job = MakeJob(3, 1, 8);
  job.model = 0;
  EXPECT_EQ(cache_.OfferFor(workload_, job, Rule("powers-of-two")).work,
            cache_.OfferFor(workload_, job).work);
}

TEST_F(SizedTables, AJobWithoutAnAllowedSizeIsRefused) {
  EXPECT_EQ(
      ErrorOf(ExitCode::kBadData,
              [&] { (void)cache_.TableFor(workload_, MakeJob(3, 3, 3), Rule("powers-of-two")); }),
      "a job must have a size that its rule allows: job 'app_17' may have 3 to 3 GPUs, "
      "sizes are powers-of-two (types gpu)");
}

TEST_F(SizedTables, AJobLargerThanTheClusterIsStillToldSo) {
  EXPECT_THROW((void)cache_.OfferFor(workload_, MakeJob(65, 65, 65), Rule("1|2")), Error);
}

}  // namespace
}  // namespace allot
