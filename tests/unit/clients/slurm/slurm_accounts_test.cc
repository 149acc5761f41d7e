#include "clients/slurm/slurm_accounts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// Accounts a (3 shares; users u1, u2) and b (1 share; user u3).
SlurmAccounts Tree() {
  return ReadSlurmAccounts(
      "# To edit this file start with a cluster line for the new cluster\n"
      "Cluster - 'c':Fairshare=1:QOS='normal'\n"
      "Parent - 'root'\n"
      "Account - 'a':Description='a':Organization='a':FairShare=3:GrpTRES=cpu=9,gres/gpu=8\n"
      "Account - 'b':Description='x: y':Organization='b':Fairshare=1\n"
      "Parent - 'a'\n"
      "User - 'u1':DefaultAccount='a':Fairshare=1:MaxJobs=2:DefaultQOS='high'\n"
      "User - 'u2':DefaultAccount='b':Fairshare=1\n"
      "Parent - 'b'\n"
      "User - 'u2':DefaultAccount='b':Fairshare=1:GrpTRES=gres/gpu:a100=2,gres/gpu=4\n",
      "dump");
}

TEST(SlurmAccountsFile, ReadsTheTree) {
  const SlurmAccounts accounts = Tree();
  ASSERT_EQ(accounts.accounts().size(), 3U);
  EXPECT_EQ(accounts.accounts()[1].shares, 3);
  EXPECT_EQ(accounts.accounts()[1].caps.group_gpus, 8);
  EXPECT_EQ(accounts.accounts()[2].parent, 0);
  ASSERT_EQ(accounts.associations().size(), 3U);
  EXPECT_EQ(accounts.associations()[0].caps.user_jobs, 2);
  EXPECT_EQ(accounts.associations()[0].default_qos, "high");
  EXPECT_FALSE(accounts.associations()[1].is_default);
  EXPECT_EQ(accounts.associations()[2].caps.group_gpus, 4);
  EXPECT_EQ(accounts.not_kept(),
            (std::vector<std::string>{"GrpTRES=cpu=9", "GrpTRES=gres/gpu:a100=2"}));
}

TEST(SlurmAccountsFile, FindsAssociations) {
  SlurmAccounts accounts = Tree();
  bool added = false;
  EXPECT_EQ(accounts.AssociationOf("u2", "", &added), 2) << "the default account";
  EXPECT_EQ(accounts.AssociationOf("u2", "a", &added), 1);
  EXPECT_FALSE(added);
  EXPECT_EQ(accounts.AssociationOf("u9", "new", &added), 3);
  EXPECT_TRUE(added);
  EXPECT_EQ(accounts.accounts().back().name, "new");
}

TEST(SlurmAccountsFile, ErrorsNameThePlace) {
  const std::pair<const char*, std::vector<std::string>> wrong[] = {
      {"\nUser 'u1'", {"User - 'name'", "dump:2"}},
      {"Parent - 'c'", {"an account that is named before", "'c'", "dump:1"}},
      {"User - 'u':Fairshare=-2", {"'Fairshare' a number from 0", "'-2'"}},
      {"User - 'u:Fairshare=2", {"quotes"}},
      {"Team - 'u'", {"Cluster, Parent, Account or User"}}};
  for (const auto& [text, parts] : wrong) {
    SCOPED_TRACE(text);
    ExpectError(ExitCode::kBadData, parts, [text = text] { ReadSlurmAccounts(text, "dump"); });
  }
}

TEST(SlurmAccountsFile, ReadsQosAndUsage) {
  std::vector<std::string> not_kept;
  const auto qos = ReadSlurmQos(
      "Name|Priority|UsageFactor|GrpTRES|GrpJobs|MaxTRES|MaxTRESPU|MaxJobsPU\n"
      "normal|0|1.000000|||||\nhigh|10|2.000000|gres/gpu=6|5||cpu=4,gres/gpu=3|2\n",
      "qos", &not_kept);
  ASSERT_EQ(qos.size(), 2U);
  EXPECT_EQ(qos[1].priority, 10);
  EXPECT_EQ(qos[1].caps.group_gpus, 6);
  EXPECT_EQ(qos[1].caps.user_gpus, 3);
  EXPECT_EQ(qos[1].caps.user_jobs, 2);
  EXPECT_EQ(not_kept, (std::vector<std::string>{"UsageFactor=2.000000", "MaxTRESPU=cpu=4"}));
  ExpectError(ExitCode::kBadData, {"'Priority'", "qos:1"},
              [&] { ReadSlurmQos("Name|Prio\n", "qos", &not_kept); });

  SlurmAccounts accounts = Tree();
  ReadSlurmUsage("Account|User|RawShares|RawUsage\na||3|60\n a|u1|1|60\n", "sshare", &accounts);
  EXPECT_EQ(accounts.associations()[0].used, 60);
}

TEST(SlurmCapsTest, AllowUpToTheLimit) {
  const SlurmCaps caps = {.group_gpus = 8, .user_jobs = 2};
  EXPECT_TRUE(caps.Allow(2, 6, 9, 6, 1));
  EXPECT_FALSE(caps.Allow(3, 6, 9, 6, 1));
  EXPECT_FALSE(caps.Allow(2, 6, 9, 6, 2));
  EXPECT_TRUE(caps.Allow(9, 6, 9, 6, 1)) << "it could never start";
}

// Shares at the level: a 3/4, b 1/4, users 1/2 and 1. Usage 60, 0, 40.
TEST(SlurmFairShares, FairTreeRanksDepthFirst) {
  const std::vector<double> used = {60, 0, 40};
  // a: (3/4) / 0.6 = 1.25 comes before b: (1/4) / 0.4 = 0.625; in a, who used nothing is first.
  EXPECT_EQ(Tree().FairTree(used), (std::vector<double>{2.0 / 3, 1, 1.0 / 3}));
}

TEST(SlurmFairShares, FairTreeMergesTiedAccounts) {
  EXPECT_EQ(Tree().FairTree(std::vector<double>{0, 0, 0}), (std::vector<double>{1, 1, 1}));
  // a: (3/4) / (60/80) = 1 = b: (1/4) / (20/80); below, u2 inf, then u3 of b 1, u1 1/2 / 1.
  EXPECT_EQ(Tree().FairTree(std::vector<double>{60, 0, 20}),
            (std::vector<double>{1.0 / 3, 1, 2.0 / 3}));
}

TEST(SlurmFairShares, ClassicCountsTheAccountsUsageInPart) {
  const std::vector<double> used = {60, 0, 40};
  const std::vector<double> factors = Tree().ClassicFairShares(used, 1);
  ASSERT_EQ(factors.size(), 3U);
  EXPECT_DOUBLE_EQ(factors[0], std::exp2(-0.6 / 0.375));
  EXPECT_DOUBLE_EQ(factors[1], std::exp2(-0.3 / 0.375));
  EXPECT_DOUBLE_EQ(factors[2], std::exp2(-0.4 / 0.25));
  EXPECT_DOUBLE_EQ(Tree().ClassicFairShares(used, 2)[0], std::exp2(-0.8));
}

}  // namespace
}  // namespace allot
