#include "rules/fair_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>

#include "perf/table_cache.h"

namespace allot {
namespace {

class FairSharesTest : public testing::Test {
 protected:
  explicit FairSharesTest(const std::string& cluster = "2x4")
      : cluster_(ClusterSpec::Parse(cluster)) {
    o_.cluster = &cluster_;
    o_.ClearJobs();
    constraints_.usage = &usage_;
  }

  struct Asks {
    Submitter of;
    GpuCount gpus = 1;
    GpuCount max = 0;  // at least gpus
    GpuCount has = 0;
    bool hidden = false;
    JobRules rules{};
    std::string type{};
  };
  void Add(const Asks& asks) {
    Workload workload;
    Job job;
    job.gpus = asks.gpus;
    job.min_gpus = 1;
    job.max_gpus = std::max(asks.gpus, asks.max);
    job.duration = 100;
    job.model = workload.models.Intern("resnet50:128");
    if (!asks.type.empty()) job.gpu_types = workload.gpu_types.Intern(asks.type);
    TableCache tables(Catalogue::Embedded(), cluster_.type_specs());
    const auto offer = tables.OfferFor(workload, job);
    tables_.push_back(offer.table);
    o_.Append({.job = o_.rows(),
               .table = offer.table.get(),
               .requested = offer.requested,
               .running = asks.has == 0 ? -1 : offer.table->Find({asks.has}, 0)});
    constraints_.AddRow({}, false, asks.rules, asks.of);
    hidden_.push_back(asks.hidden);
  }
  // What each user has of shares, ascending by (account, user).
  std::vector<GpuCount> Shares(const std::vector<Guarantee>& guarantees = {}) {
    shares_.Find(o_, constraints_, hidden_, cluster_, guarantees);
    std::map<Submitter, GpuCount> by_user;
    for (const FairShares::Share& share : shares_.shares()) by_user[share.submitter] = share.gpus;
    std::vector<GpuCount> gpus;
    gpus.reserve(by_user.size());
    for (const auto& [user, share] : by_user) gpus.push_back(share);
    return gpus;
  }

  using Gpus = std::vector<GpuCount>;
  ClusterSpec cluster_;
  Observation o_;
  std::vector<std::shared_ptr<const ConfigurationTable>> tables_;
  GpuUsage usage_{86400};
  Constraints constraints_;
  std::vector<bool> hidden_;
  FairShares shares_;
};

constexpr Submitter kAlice{0, 0};
constexpr Submitter kBob{0, 1};
constexpr Submitter kEve{0, 2};

TEST_F(FairSharesTest, UsersShareEvenlyHoweverManyJobsTheyHave) {
  Add({.of = kAlice, .gpus = 8});
  for (int job = 0; job < 60; ++job) Add({.of = kEve});
  EXPECT_EQ(Shares(), (Gpus{4, 4}));
  EXPECT_TRUE(shares_.contended());
}

TEST_F(FairSharesTest, WhatOneDoesNotAskForTheOthersShare) {
  Add({.of = kAlice, .gpus = 1});
  Add({.of = kBob, .gpus = 3});
  Add({.of = kEve, .gpus = 8});
  EXPECT_EQ(Shares(), (Gpus{1, 3, 4}));
}

TEST_F(FairSharesTest, AllGetWhatTheyAskForWhereThereIsEnough) {
  Add({.of = kAlice, .gpus = 3});
  Add({.of = kEve, .gpus = 5});
  EXPECT_EQ(Shares(), (Gpus{3, 5}));
  EXPECT_FALSE(shares_.contended());
}

TEST_F(FairSharesTest, JobsCompeteWithAllThatTheyCouldUse) {
  Add({.of = kAlice, .gpus = 6});
  Add({.of = kEve, .gpus = 2, .max = 8});
  EXPECT_EQ(Shares(), (Gpus{4, 4}));
  EXPECT_EQ(shares_.asked_of_row()[1], 2);
}

TEST_F(FairSharesTest, RemaindersGoToThoseWhoHaveUsedLeast) {
  for (const Submitter& user : {kAlice, kBob, kEve}) Add({.of = user, .gpus = 8});
  usage_.Add(kAlice, 100, 0);
  EXPECT_EQ(Shares(), (Gpus{2, 3, 3}));
}

TEST_F(FairSharesTest, WhoeverHasARemainderKeepsItForATurn) {
  for (const Submitter& user : {kAlice, kBob, kEve}) {
    Add({.of = user, .gpus = 8, .has = user == kAlice ? 2 : 3});
  }
  usage_.Add(kBob, FairShares::kTurn - 1, 0);
  usage_.Add(kEve, FairShares::kTurn + 1, 0);
  EXPECT_EQ(Shares(), (Gpus{3, 3, 2}));
}

TEST_F(FairSharesTest, UsageOfAHalfLifeAgoCountsHalf) {
  usage_.Add(kAlice, 100, 0);
  usage_.Add(kBob, 60, 0);
  EXPECT_DOUBLE_EQ(usage_.Of(kAlice, 86400), 50);
  EXPECT_DOUBLE_EQ(usage_.OfAccount(0, 86400), 80);
}

TEST_F(FairSharesTest, AccountsShareFirstThenTheirUsers) {
  Add({.of = {0, 0}, .gpus = 8});
  Add({.of = {1, 1}, .gpus = 8});
  Add({.of = {1, 2}, .gpus = 8});
  EXPECT_EQ(Shares(), (Gpus{4, 2, 2}));
}

TEST_F(FairSharesTest, WeightsCount) {
  Add({.of = {0, 0}, .gpus = 8, .rules = {.account_weight = 3}});
  Add({.of = {1, 1}, .gpus = 8});
  EXPECT_EQ(Shares(), (Gpus{6, 2}));
}

TEST_F(FairSharesTest, AnAccountsShareIsAtLeastItsGuarantee) {
  Add({.of = {0, 0}, .gpus = 8});
  Add({.of = {1, 1}, .gpus = 8, .rules = {.guarantee = 0}});
  EXPECT_EQ(Shares({{"vision", 6}}), (Gpus{2, 6}));
}

TEST_F(FairSharesTest, GpusOfPinnedJobsAreAPartOfTheShare) {
  Add({.of = kAlice, .gpus = 8});
  Add({.of = kEve, .gpus = 6, .has = 6, .hidden = true});
  cluster_ = ClusterSpec::Parse("1x2");  // as policies see it
  EXPECT_EQ(Shares(), (Gpus{2, 6}));
}

TEST_F(FairSharesTest, WhoAsksForNothingHasNoShare) {
  Add({.of = kAlice, .gpus = 8});
  Add({.of = kEve, .gpus = 8, .hidden = true});
  EXPECT_EQ(Shares(), (Gpus{8}));
}

class TypedFairSharesTest : public FairSharesTest {
 protected:
  TypedFairSharesTest() : FairSharesTest("2x4:v100,3x4:k80") {}
};

TEST_F(TypedFairSharesTest, JobsOfOneTypeShareItsGpus) {
  Add({.of = kAlice, .gpus = 8, .type = "v100"});
  Add({.of = kEve, .gpus = 8, .type = "v100"});
  EXPECT_EQ(Shares(), (Gpus{4, 4}));
  Add({.of = kEve, .gpus = 12});
  EXPECT_EQ(Shares(), (Gpus{4, 16}));
}

// Nobody can have more unless somebody who has no more by weight, but for a remainder, loses.
TEST_F(FairSharesTest, SharesAreMaxMinFairWhateverIsAskedFor) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    o_.ClearJobs();
    constraints_ = {};
    constraints_.usage = &usage_;
    hidden_.clear();
    const int users = 2 + static_cast<int>(random() % 6);
    std::vector<GpuCount> asked;
    for (int user = 0; user < users; ++user) {
      asked.push_back(1 + static_cast<GpuCount>(random() % 8));
      Add({.of = {0, user}, .gpus = asked.back()});
    }
    const Gpus gpus = Shares();
    GpuCount sum = 0;
    GpuCount most = 0;
    for (const GpuCount share : gpus) {
      sum += share;
      most = std::max(most, share);
    }
    EXPECT_EQ(sum, std::min(8, std::accumulate(asked.begin(), asked.end(), 0)));
    for (std::size_t user = 0; user < gpus.size(); ++user) {
      EXPECT_LE(gpus[user], asked[user]);
      EXPECT_GE(gpus[user], std::min(asked[user], most - 1));
    }
  }
}

}  // namespace
}  // namespace allot
