#include "live/runtimes/slurm/job_nodes.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

TEST(JobNodes, AConstraintIsReadAsSlurmReadsIt) {
  const std::vector<std::string> features = {"a100", "nvlink"};
  for (const char* holds : {"", "a100", "a100&nvlink", "v100|nvlink", "(v100|a100)&nvlink", "!v100",
                            "v100&x|a100", "a100,nvlink"}) {
    EXPECT_TRUE(Satisfies(features, holds)) << holds;
  }
  for (const char* fails : {"v100", "a100&v100", "v100|k80", "(v100|k80)&nvlink", "!a100", "a10"}) {
    EXPECT_FALSE(Satisfies(features, fails)) << fails;
  }
  // Numbers of nodes are Slurm's to judge.
  EXPECT_TRUE(Satisfies(features, "[v100|k80]"));
  EXPECT_TRUE(Satisfies(features, "v100*2"));
}

class NarrowTest : public testing::Test {
 protected:
  NarrowTest() {
    for (const char* name : {"a1", "a2", "v1"}) {
      SlurmNode node;
      node.name = name;
      node.cpus = name[0] == 'v' ? 64 : 16;
      node.memory_mib = 8000;
      node.features = {name[0] == 'v' ? "v100" : "a100", name[1] == '1' ? "first" : "second"};
      nodes_.push_back(node);
    }
    job_.min_gpus = 1;
    job_.requested = 2;
    job_.max_gpus = 16;
  }
  void Narrow() {
    JobNodes({{"a1", "a100", 4, nodes_.data()},
              {"a2", "a100", 4, &nodes_[1]},
              {"v1", "v100", 8, &nodes_[2]}})
        .Narrow(slurm_, &job_);
  }
  std::vector<SlurmNode> nodes_;
  SlurmJob slurm_;
  RuntimeJob job_;
};

using Names = std::vector<std::string>;

TEST_F(NarrowTest, AJobThatAsksForNothingSpecialRunsAnywhere) {
  Narrow();
  EXPECT_TRUE(job_.only_on.empty());
  EXPECT_EQ(job_.gpu_types, "");
  EXPECT_EQ(job_.max_gpus, 16);
}

TEST_F(NarrowTest, AConstraintNamesNodesAndSoTypesAndTheirGpus) {
  slurm_.constraint = "a100";
  Narrow();
  EXPECT_EQ(job_.only_on, (Names{"a1", "a2"}));
  EXPECT_EQ(job_.gpu_types, "a100");
  EXPECT_EQ(job_.max_gpus, 8);
  EXPECT_EQ(job_.limits, "--constraint=a100");
}

TEST_F(NarrowTest, TypesAndConstraintsHoldTogether) {
  slurm_.constraint = "first";
  job_.gpu_types = "a100";
  Narrow();
  EXPECT_EQ(job_.only_on, (Names{"a1"}));
  EXPECT_EQ(job_.max_gpus, 4);
}

TEST_F(NarrowTest, ExcludedNodesCoresAndMemoryCount) {
  slurm_.excluded_nodes = {"a2"};
  slurm_.cpus_per_node = 16;
  Narrow();
  EXPECT_EQ(job_.only_on, (Names{"a1", "v1"}));
  EXPECT_EQ(job_.limits, "--exclude=a2");
  job_.only_on.clear();
  slurm_.cpus_per_node = 32;
  Narrow();
  EXPECT_EQ(job_.only_on, (Names{"v1"}));
  EXPECT_EQ(WhyNotOn(nodes_[0], slurm_), "32 cores on a node");
  slurm_.cpus_per_node = 1;
  slurm_.memory = 9000;
  EXPECT_EQ(WhyNotOn(nodes_[0], slurm_), "--mem=9000M");
}

TEST_F(NarrowTest, WhatNoNodesCanRunIsRefusedWithTheReason) {
  slurm_.constraint = "h100";
  EXPECT_EQ(ErrorOf(ExitCode::kBadData, [&] { Narrow(); }),
            "a job of at least 1 GPUs may run on nodes that have 0 of one type "
            "(--constraint=h100)");
  job_.only_on.clear();
  slurm_.constraint = "first&a100";
  job_.min_gpus = job_.requested = 5;
  EXPECT_THROW(Narrow(), Error);
}

}  // namespace
}  // namespace allot
