#include "clients/slurm/slurm_conf.h"

#include <gtest/gtest.h>

#include <map>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

using Files = std::map<std::string, std::string>;

SlurmConf ReadConf(const Files& files) {
  return ReadSlurmConf("etc/slurm.conf", [&files](const std::string& path) {
    const auto found = files.find(path);
    if (found == files.end()) throw DataError("cannot read '{}'", path);
    return found->second;
  });
}

SlurmConf ReadConf(const std::string& text) { return ReadConf(Files{{"etc/slurm.conf", text}}); }

TEST(SlurmConfFile, DefaultsAreThoseOfItsDocumentation) {
  const SlurmConf conf = ReadConf("ClusterName=a\n");
  EXPECT_TRUE(conf.multifactor);
  EXPECT_TRUE(conf.backfill);
  EXPECT_TRUE(conf.fair_tree);
  EXPECT_FALSE(conf.favor_small);
  EXPECT_EQ(conf.weight_age + conf.weight_fair_share + conf.weight_job_size + conf.weight_qos, 0);
  EXPECT_EQ(conf.max_age, 7 * 86400);
  EXPECT_EQ(conf.half_life, 7 * 86400);
  EXPECT_EQ(conf.calc_period, 300);
  EXPECT_EQ(conf.queue_depth, 100);
  EXPECT_EQ(conf.bf_interval, 30);
  EXPECT_EQ(conf.bf_window, 86400);
  EXPECT_EQ(conf.bf_resolution, 60);
  EXPECT_EQ(conf.bf_max_job_test, 500);
  EXPECT_EQ(conf.bf_max_job_user, 0);
  EXPECT_TRUE(conf.not_kept.empty());
}

TEST(SlurmConfFile, BlanksMayStandAroundTheEqualsSign) {
  const SlurmConf conf = ReadConf("PriorityType = priority/basic\nPartitionName = a MaxTime= 60\n");
  EXPECT_FALSE(conf.multifactor);
  ASSERT_EQ(conf.partitions.size(), 1U);
  EXPECT_EQ(conf.partitions[0].max_time, 3600);
}

TEST(SlurmConfFile, LimitsAreKeptWhereTheyAreEnforced) {
  EXPECT_FALSE(ReadConf("AccountingStorageEnforce=associations,qos\n").enforces_limits);
  EXPECT_TRUE(ReadConf("AccountingStorageEnforce=associations,Limits\n").enforces_limits);
  EXPECT_TRUE(ReadConf("AccountingStorageEnforce=safe\n").enforces_limits);
}

TEST(SlurmConfFile, WhoMayUseAPartitionIsNotKept) {
  const SlurmConf conf = ReadConf("PartitionName=a AllowAccounts=vip AllowQos=ALL State=UP\n");
  EXPECT_EQ(conf.not_kept, std::vector<std::string>{"allowaccounts=vip"});
}

TEST(SlurmConfFile, PrioritiesAndBackfill) {
  const SlurmConf conf = ReadConf(
      "prioritytype=priority/multifactor  # in any case\n"
      "PriorityWeightAge=1000\nPriorityWeightFairshare=\"2000\"\nPriorityMaxAge=1-12\n"
      "PriorityDecayHalfLife=0\nPriorityFavorSmall=YES\nPriorityFlags=NO_FAIR_TREE\n"
      "PriorityWeightTRES=CPU=10,Mem=5,GRES/gpu=-20\n"
      "SchedulerParameters=bf_interval=60,bf_window=\\\n 2880,bf_resolution=300,bf_busy_nodes,"
      "default_queue_depth=7,bf_max_job_user=3\n");
  EXPECT_EQ(conf.weight_age, 1000);
  EXPECT_EQ(conf.weight_fair_share, 2000);
  EXPECT_EQ(conf.weight_tres.cpu, 10);
  EXPECT_EQ(conf.weight_tres.gpu, -20);
  EXPECT_EQ(conf.max_age, 36 * 3600);
  EXPECT_EQ(conf.half_life, kNever);
  EXPECT_TRUE(conf.favor_small);
  EXPECT_FALSE(conf.fair_tree);
  EXPECT_EQ(conf.bf_interval, 60);
  EXPECT_EQ(conf.bf_window, 2 * 86400);
  EXPECT_EQ(conf.bf_resolution, 300);
  EXPECT_EQ(conf.queue_depth, 7);
  EXPECT_EQ(conf.bf_max_job_user, 3);
  EXPECT_EQ(conf.not_kept, (std::vector<std::string>{"PriorityWeightTRES=Mem=5",
                                                     "SchedulerParameters=bf_busy_nodes"}));
}

TEST(SlurmConfFile, NodesAndPartitions) {
  const SlurmConf conf = ReadConf(
      "NodeName=DEFAULT Gres=gpu:a100:4\nNodeName=n[1-2] Weight=5\nNodeName=c1 Gres=\"\"\n"
      "PartitionName=DEFAULT MaxTime=1-0 PriorityTier=2\n"
      "PartitionName=long Nodes=n1,c1 TRESBillingWeights=\"CPU=0,GRES/gpu=2\"\n"
      "PartitionName=short Nodes=ALL MaxTime=30 DefaultTime=5:30 Default=YES PriorityJobFactor=9 "
      "QOS=part\n");
  ASSERT_EQ(conf.nodes.size(), 3U);
  EXPECT_EQ(conf.nodes[1].name, "n2");
  EXPECT_EQ(conf.nodes[1].gpus, 4);
  EXPECT_EQ(conf.nodes[1].weight, 5);
  EXPECT_EQ(conf.nodes[2].gpus, 0);
  ASSERT_EQ(conf.partitions.size(), 2U);
  const SlurmConfPartition& large = conf.partitions[0];
  EXPECT_EQ(large.nodes, (std::vector<std::string>{"n1", "c1"}));
  EXPECT_EQ(large.max_time, 86400);
  EXPECT_EQ(large.tier, 2);
  EXPECT_EQ(large.billing->gpu, 2);
  EXPECT_FALSE(large.is_default);
  const SlurmConfPartition& small = conf.partitions[1];
  EXPECT_TRUE(small.nodes.empty());
  EXPECT_EQ(small.max_time, 1800);
  EXPECT_EQ(small.default_time, 330);
  EXPECT_EQ(small.job_factor, 9);
  EXPECT_EQ(small.qos, "part");
  EXPECT_TRUE(small.is_default);
}

TEST(SlurmConfFile, WhatIsNotKeptIsListed) {
  EXPECT_EQ(
      ReadConf("PreemptType=preempt/qos\nLicenses=matlab:2\nPriorityWeightAssoc=0\n").not_kept,
      (std::vector<std::string>{"PreemptType=preempt/qos", "Licenses=matlab:2"}));
}

TEST(SlurmConfFile, IncludesFilesOfItsFolder) {
  EXPECT_EQ(ReadConf(Files{{"etc/slurm.conf", "Include  parts/age.conf\n"},
                           {"etc/parts/age.conf", "PriorityWeightAge=3\n"}})
                .weight_age,
            3);
  ExpectError(ExitCode::kBadData,
              {"'Include' must name a file that can be read", "gone.conf", "etc/slurm.conf:2"},
              [] { ReadConf("ClusterName=a\nInclude gone.conf\n"); });
  ExpectError(ExitCode::kBadData, {"16 deep"}, [] { ReadConf("Include slurm.conf\n"); });
}

TEST(SlurmConfFile, ErrorsNameRuleValueAndPlace) {
  const std::pair<const char*, std::vector<std::string>> wrong[] = {
      {"\nPriorityType=priority/slow", {"'PriorityType'", "priority/slow", "etc/slurm.conf:2"}},
      {"SchedulerType=sched/wiki", {"sched/backfill or sched/builtin", "etc/slurm.conf:1"}},
      {"PriorityWeightAge=-5", {"'PriorityWeightAge' must be a number from 0", "'-5'"}},
      {"PriorityMaxAge=soon", {"'PriorityMaxAge' must be a time like", "'soon'"}},
      {"PriorityMaxAge=1:2:3:4", {"must be a time like"}},
      {"PriorityCalcPeriod=0", {"a time above 0"}},
      {"SchedulerParameters=bf_interval=0", {"SchedulerParameters=bf_interval", "'0'"}},
      {"SchedulerParameters=bf_window", {"a whole number from 1 to 43200", "''"}},
      {"PartitionName=a PriorityTier=-1", {"'prioritytier'", "'-1'"}},
      {"PartitionName=a\nPartitionName=a", {"named once", "etc/slurm.conf:2"}},
      {"PartitionName=a Nodes=n[1", {"brackets", "etc/slurm.conf:1"}},
      {"some words", {"KEY=VALUE", "some words"}}};
  for (const auto& [text, parts] : wrong) {
    SCOPED_TRACE(text);
    ExpectError(ExitCode::kBadData, parts, [text = text] { ReadConf(text); });
  }
}

}  // namespace
}  // namespace allot
