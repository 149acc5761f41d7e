#include "rules/entitlements.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <optional>

#include "cluster/validate.h"
#include "perf/table_cache.h"

namespace allot {
namespace {

// Jobs on nodes of four GPUs. A job's owner is the number of a guarantee, or -1.
class EntitlementsTest : public testing::Test {
 protected:
  explicit EntitlementsTest(const std::string& cluster = "2x4")
      : cluster_(ClusterSpec::Parse(cluster)) {
    o_.cluster = &cluster_;
    o_.ClearJobs();
  }

  struct Asks {
    std::int32_t owner = -1;
    GpuCount gpus = 1;
    GpuCount min = 1;
    GpuCount max = 8;
    double served = 0;  // GPU seconds
  };
  // `held`: it runs so.
  void Add(const Asks& asks, const std::vector<NodeShare>& held = {}) {
    Job job;
    job.id = "job";
    job.gpus = asks.gpus;
    job.min_gpus = asks.min;
    job.max_gpus = asks.max;
    job.duration = 100;
    TableCache tables(Catalogue::Embedded(), cluster_.type_specs());
    const auto offer = tables.OfferFor({}, job);
    tables_.push_back(offer.table);
    owner_.push_back(asks.owner);
    o_.Append({.job = o_.rows(),
               .submit = static_cast<Seconds>(o_.rows()),
               .table = tables_.back().get(),
               .requested = offer.requested,
               .running = held.empty() ? -1 : ConfigurationOf(o_.rows(), held),
               .attained_gpu_seconds = asks.served},
              held);
  }
  std::int32_t ConfigurationOf(std::int32_t row, const std::vector<NodeShare>& shares) const {
    UnitCounts units;
    for (const NodeShare& share : shares) units += share.units;
    return tables_[static_cast<std::size_t>(row)]->Find(
        units, cluster_.nodes()[static_cast<std::size_t>(shares[0].node)].type, shares.size());
  }
  void Answer(std::int32_t row, const std::vector<NodeShare>& shares) {
    answer_.Add(row, ConfigurationOf(row, shares), shares);
  }
  // The GPUs of each row after all.
  std::vector<GpuCount> Enforced(const std::vector<Guarantee>& guarantees) {
    EXPECT_EQ(ValidateAllocation(o_, answer_).message(), "");
    entitlements_.emplace(guarantees);
    hidden_.resize(guarantees.size());
    const Entitlements::Basis basis{owner_, hidden_, shares_, share_of_row_, asked_of_row_};
    changed_ = entitlements_->Enforce(o_, basis, answer_) != Corrections::Reason::kNone;
    const Allocation& made = changed_ ? entitlements_->allocation() : answer_;
    EXPECT_EQ(ValidateAllocation(o_, made).message(), "");
    std::vector<GpuCount> gpus(o_.job.size(), 0);
    for (const auto& entry : made.entries()) {
      const auto row = static_cast<std::size_t>(entry.job);
      gpus[row] = (*o_.table[row])[entry.configuration].demand.gpus;
    }
    return gpus;
  }

  using Gpus = std::vector<GpuCount>;
  ClusterSpec cluster_;
  Observation o_;
  std::vector<std::shared_ptr<const ConfigurationTable>> tables_;
  std::vector<std::int32_t> owner_;
  std::vector<GpuCount> hidden_;
  Allocation answer_;
  std::vector<FairShares::Share> shares_;
  std::vector<std::int32_t> share_of_row_;
  std::vector<GpuCount> asked_of_row_;
  std::optional<Entitlements> entitlements_;
  bool changed_ = false;
};

TEST_F(EntitlementsTest, AnAnswerThatGivesThemStaysAsItIs) {
  Add({.owner = 0, .gpus = 2});
  Add({.gpus = 4});
  Answer(0, {{0, {2}, 0x3}});
  Answer(1, {{1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 2}}), (Gpus{2, 4}));
  EXPECT_FALSE(changed_);
}

TEST_F(EntitlementsTest, WhoDoesNotAskGetsNothing) {
  Add({.gpus = 8});
  Answer(0, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 6}}), (Gpus{8}));
}

TEST_F(EntitlementsTest, FreeGpusAreGivenFirst) {
  Add({.owner = 0, .gpus = 4});
  Add({.gpus = 4});
  Answer(1, {{0, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 6}}), (Gpus{4, 4}));
}

TEST_F(EntitlementsTest, ThenJobsBecomeSmallerThatMay) {
  Add({.owner = 0, .gpus = 4});
  Add({.gpus = 4, .min = 4, .max = 4}, {{0, {4}, 0xf}});
  Add({.gpus = 4}, {{1, {4}, 0xf}});
  Answer(1, {{0, {4}, 0xf}});
  Answer(2, {{1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 3}}), (Gpus{3, 4, 1}));
}

TEST_F(EntitlementsTest, ThenJobsAreStoppedThatHadMost) {
  Add({.owner = 0, .gpus = 4});
  Add({.gpus = 4, .min = 4, .max = 4, .served = 900}, {{0, {4}, 0xf}});
  Add({.gpus = 4, .min = 4, .max = 4, .served = 100}, {{1, {4}, 0xf}});
  Answer(1, {{0, {4}, 0xf}});
  Answer(2, {{1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 4}}), (Gpus{4, 0, 4}));
}

TEST_F(EntitlementsTest, OfJobsWithAsMuchServiceThoseThatRunStay) {
  Add({.owner = 0, .gpus = 4});
  Add({.gpus = 4, .min = 4, .max = 4});
  Add({.gpus = 4, .min = 4, .max = 4}, {{1, {4}, 0xf}});
  Answer(1, {{0, {4}, 0xf}});
  Answer(2, {{1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 4}}), (Gpus{4, 0, 4}));
}

TEST_F(EntitlementsTest, NoMoreThanTheGuaranteeIsTaken) {
  Add({.owner = 0, .gpus = 4, .min = 4, .max = 4});
  Add({.owner = 0, .gpus = 4, .min = 4, .max = 4});
  Add({.gpus = 8}, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  Answer(2, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 6}}), (Gpus{4, 0, 4})) << "the second job needs 4, 2 are left of 6";
}

TEST_F(EntitlementsTest, WhatHiddenJobsHoldCounts) {
  Add({.owner = 0, .gpus = 4});
  Add({.gpus = 8}, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  Answer(1, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  hidden_ = {3};
  EXPECT_EQ(Enforced({{"a", 4}}), (Gpus{1, 7}));
}

TEST_F(EntitlementsTest, ARunningJobKeepsItsPlace) {
  Add({.owner = 0, .gpus = 2, .max = 2}, {{1, {2}, 0x6}});
  Add({.gpus = 8});
  Answer(1, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 2}}), (Gpus{2, 6}));
  for (const auto& entry : entitlements_->allocation().entries()) {
    EXPECT_TRUE(entry.job != 0 || HoldsAlready(o_, 0, entitlements_->allocation(), entry));
  }
}

TEST_F(EntitlementsTest, AnAccountAboveItsGuaranteeGivesBack) {
  Add({.owner = 0, .gpus = 4});
  Add({.owner = 1, .gpus = 4}, {{0, {4}, 0xf}});
  Add({.owner = 1, .gpus = 4}, {{1, {4}, 0xf}});
  Answer(1, {{0, {4}, 0xf}});
  Answer(2, {{1, {4}, 0xf}});
  const Gpus gpus = Enforced({{"a", 3}, {"b", 5}});
  EXPECT_EQ(gpus[0], 3);
  EXPECT_EQ(gpus[1] + gpus[2], 5) << "and no more than it has above";
}

// Rows of two users: the first, alice, has used less.
class FairEntitlementsTest : public EntitlementsTest {
 protected:
  static constexpr std::int32_t kAlice = 0;
  static constexpr std::int32_t kEve = 1;
  void Share(GpuCount alice, GpuCount eve, double used_by_eve = 1) {
    shares_ = {{.submitter = {0, 0}, .gpus = alice},
               {.submitter = {0, 1}, .gpus = eve, .usage = used_by_eve}};
  }
  void AddOf(std::int32_t user, const Asks& asks, const std::vector<NodeShare>& held = {}) {
    Add(asks, held);
    share_of_row_.push_back(user);
    asked_of_row_.push_back(asks.gpus);
  }
};

TEST_F(FairEntitlementsTest, ARunningJobIsNotTakenBelowTheShareForNewerJobsOfAnother) {
  AddOf(kAlice, {.gpus = 4}, {{0, {4}, 0xf}});
  for (int job = 1; job <= 8; ++job) {
    AddOf(kEve, {.max = 1});
    Answer(job, {{job > 4 ? 1 : 0, {1}, std::uint64_t{1} << static_cast<unsigned>(job - 1) % 4}});
  }
  Share(4, 4);
  const Gpus gpus = Enforced({});
  EXPECT_EQ(gpus[0], 4);
  EXPECT_EQ(std::accumulate(gpus.begin(), gpus.end(), 0), 8);
  EXPECT_TRUE(
      HoldsAlready(o_, 0, entitlements_->allocation(), entitlements_->allocation().entries()[0]));
}

TEST_F(FairEntitlementsTest, ARunningJobThatIsMadeSmallerKeepsTheWholeShare) {
  AddOf(kAlice, {.gpus = 8}, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  Answer(0, {{0, {4}, 0xf}});
  for (int job = 1; job <= 4; ++job) {
    AddOf(kEve, {.max = 1});
    Answer(job, {{1, {1}, std::uint64_t{1} << static_cast<unsigned>(job - 1)}});
  }
  Share(5, 3);
  const Gpus gpus = Enforced({});
  EXPECT_EQ(gpus[0], 5);
  EXPECT_EQ(gpus[1] + gpus[2] + gpus[3] + gpus[4], 3);
}

TEST_F(FairEntitlementsTest, RunningJobsThatMayNotGrowKeepTheirGpus) {
  AddOf(kAlice, {.gpus = 4}, {{0, {4}, 0xf}});
  AddOf(kEve, {.gpus = 4}, {{1, {2}, 0x3}});
  AddOf(kEve, {.gpus = 4}, {{1, {2}, 0xc}});
  Answer(1, {{0, {4}, 0xf}});
  Answer(2, {{1, {4}, 0xf}});
  Share(4, 4);
  EXPECT_EQ(Enforced({}), (Gpus{4, 2, 2}));
  const Allocation& made = entitlements_->allocation();
  for (const auto& entry : made.entries()) {
    EXPECT_TRUE(HoldsAlready(o_, entry.job, made, entry)) << "job " << entry.job;
  }
}

TEST_F(FairEntitlementsTest, WhatRunningJobsWouldGainGoesBeforeAnyStart) {
  AddOf(kAlice, {.gpus = 2}, {{0, {2}, 0x3}});
  AddOf(kEve, {.gpus = 4}, {{0, {2}, 0xc}});
  AddOf(kEve, {.gpus = 2, .max = 2});
  Answer(1, {{0, {4}, 0xf}});
  Answer(2, {{1, {2}, 0x3}});
  Share(2, 6);
  EXPECT_EQ(Enforced({}), (Gpus{2, 4, 2})) << "job 1 grows elsewhere";
  AddOf(kEve, {.gpus = 2, .max = 2});
  Answer(3, {{1, {2}, 0xc}});
  EXPECT_EQ(Enforced({}), (Gpus{2, 2, 2, 2}));
}

TEST_F(FairEntitlementsTest, WhoHasMostOfTheShareAndLosesNothingWaitsForTheRest) {
  AddOf(kAlice, {.gpus = 8}, {{0, {4}, 0xf}});
  AddOf(kEve, {.gpus = 8}, {{1, {4}, 0xf}});
  Answer(0, {{0, {4}, 0xf}});
  Answer(1, {{1, {4}, 0xf}});
  Share(5, 3);
  EXPECT_EQ(Enforced({}), (Gpus{4, 4}));
}

TEST_F(FairEntitlementsTest, AnAnswerThatGivesSharesStaysAsItIs) {
  AddOf(kAlice, {.gpus = 8});
  AddOf(kEve, {.gpus = 8});
  Share(4, 4);
  Answer(0, {{0, {4}, 0xf}});
  Answer(1, {{1, {4}, 0xf}});
  EXPECT_EQ(Enforced({}), (Gpus{4, 4}));
  EXPECT_FALSE(changed_);
}

TEST_F(FairEntitlementsTest, OneMayHaveMoreWhereTheOtherAsksForLess) {
  AddOf(kAlice, {.gpus = 2, .max = 2});
  AddOf(kEve, {.gpus = 8});
  Share(2, 6);
  Answer(0, {{0, {2}, 0x3}});
  Answer(1, {{0, {2}, 0xc}, {1, {4}, 0xf}});
  EXPECT_EQ(Enforced({}), (Gpus{2, 6}));
  EXPECT_FALSE(changed_);
}

TEST_F(FairEntitlementsTest, AGangBeyondTheShareHasItsTurnWhileItsUserHasUsedLess) {
  AddOf(kAlice, {.gpus = 8, .min = 8});
  AddOf(kEve, {.gpus = 4, .min = 4, .max = 4}, {{0, {4}, 0xf}});
  AddOf(kEve, {.gpus = 4, .min = 4, .max = 4}, {{1, {4}, 0xf}});
  Answer(1, {{0, {4}, 0xf}});
  Answer(2, {{1, {4}, 0xf}});
  Share(4, 4, 4 * FairShares::kTurn + 1);  // alice needs four that eve's share has
  EXPECT_EQ(Enforced({}), (Gpus{8, 0, 0}));
  Share(4, 4, 4 * FairShares::kTurn - 1);
  EXPECT_EQ(Enforced({}), (Gpus{0, 4, 4}));
}

TEST_F(FairEntitlementsTest, AGuaranteeComesBeforeShares) {
  AddOf(kAlice, {.gpus = 8});
  AddOf(kEve, {.owner = 0, .gpus = 8});
  Answer(0, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  Share(4, 4);
  EXPECT_EQ(Enforced({{"a", 6}}), (Gpus{2, 6}));
}

TEST_F(FairEntitlementsTest, JobsThatWereReducedForNothingGetTheirGpusBack) {
  AddOf(kAlice, {.gpus = 4, .min = 4, .max = 4});
  AddOf(kEve, {.gpus = 2, .min = 2, .max = 2, .served = 1}, {{0, {2}, 0x3}});
  AddOf(kEve, {.gpus = 2, .min = 2, .max = 2, .served = 9}, {{0, {2}, 0xc}});
  AddOf(kEve, {.gpus = 4, .min = 1, .max = 4, .served = 2}, {{1, {4}, 0xf}});
  Answer(1, {{0, {2}, 0x3}});
  Answer(2, {{0, {2}, 0xc}});
  Answer(3, {{1, {4}, 0xf}});
  Share(4, 4);
  const Gpus gpus = Enforced({});
  EXPECT_EQ(gpus[0], 4);
  EXPECT_EQ(gpus[1] + gpus[2] + gpus[3], 4);
}

class TypedEntitlementsTest : public EntitlementsTest {
 protected:
  TypedEntitlementsTest() : EntitlementsTest("1x4:v100,1x4:k80") {}
};

TEST_F(TypedEntitlementsTest, AGuaranteeMayBeOfOneType) {
  Add({.owner = 0, .gpus = 2, .max = 4});
  Add({.gpus = 4, .max = 4}, {{0, {4}, 0xf}});
  Answer(0, {{1, {2}, 0x3}});
  Answer(1, {{0, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 2, "v100"}}), (Gpus{2, 2}));
  EXPECT_EQ(Enforced({{"a", 2, "k80"}}), (Gpus{2, 4})) << "it has these";
  EXPECT_EQ(Enforced({{"a", 2, "a100"}}), (Gpus{2, 4})) << "there are none";
}

}  // namespace
}  // namespace allot
