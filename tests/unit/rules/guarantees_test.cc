#include "rules/guarantees.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "cluster/validate.h"
#include "perf/table_cache.h"

namespace allot {
namespace {

// Jobs on nodes of four GPUs. A job's owner is the number of a guarantee, or -1.
class GuaranteesTest : public testing::Test {
 protected:
  explicit GuaranteesTest(const std::string& cluster = "2x4")
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
    shares_.emplace(guarantees);
    hidden_.resize(guarantees.size());
    changed_ = shares_->Enforce(o_, owner_, hidden_, answer_);
    const Allocation& made = changed_ ? shares_->allocation() : answer_;
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
  std::optional<Guarantees> shares_;
  bool changed_ = false;
};

TEST_F(GuaranteesTest, AnAnswerThatGivesThemStaysAsItIs) {
  Add({.owner = 0, .gpus = 2});
  Add({.gpus = 4});
  Answer(0, {{0, {2}, 0x3}});
  Answer(1, {{1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 2}}), (Gpus{2, 4}));
  EXPECT_FALSE(changed_);
}

TEST_F(GuaranteesTest, WhoDoesNotAskGetsNothing) {
  Add({.gpus = 8});
  Answer(0, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 6}}), (Gpus{8}));
}

TEST_F(GuaranteesTest, FreeGpusAreGivenFirst) {
  Add({.owner = 0, .gpus = 4});
  Add({.gpus = 4});
  Answer(1, {{0, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 6}}), (Gpus{4, 4}));
}

TEST_F(GuaranteesTest, ThenJobsBecomeSmallerThatMay) {
  Add({.owner = 0, .gpus = 4});
  Add({.gpus = 4, .min = 4, .max = 4}, {{0, {4}, 0xf}});
  Add({.gpus = 4}, {{1, {4}, 0xf}});
  Answer(1, {{0, {4}, 0xf}});
  Answer(2, {{1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 3}}), (Gpus{3, 4, 1}));
}

TEST_F(GuaranteesTest, ThenJobsAreStoppedThatHadLeast) {
  Add({.owner = 0, .gpus = 4});
  Add({.gpus = 4, .min = 4, .max = 4, .served = 900}, {{0, {4}, 0xf}});
  Add({.gpus = 4, .min = 4, .max = 4, .served = 100}, {{1, {4}, 0xf}});
  Answer(1, {{0, {4}, 0xf}});
  Answer(2, {{1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 4}}), (Gpus{4, 4, 0}));
}

TEST_F(GuaranteesTest, WhoOnlyNowBeginsIsTheFirstToWait) {
  Add({.owner = 0, .gpus = 4});
  Add({.gpus = 4, .min = 4, .max = 4});
  Add({.gpus = 4, .min = 4, .max = 4}, {{1, {4}, 0xf}});
  Answer(1, {{0, {4}, 0xf}});
  Answer(2, {{1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 4}}), (Gpus{4, 0, 4}));
}

TEST_F(GuaranteesTest, NoMoreThanTheGuaranteeIsTaken) {
  Add({.owner = 0, .gpus = 4, .min = 4, .max = 4});
  Add({.owner = 0, .gpus = 4, .min = 4, .max = 4});
  Add({.gpus = 8}, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  Answer(2, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 6}}), (Gpus{4, 0, 4})) << "the second job needs 4, 2 are left of 6";
}

TEST_F(GuaranteesTest, WhatHiddenJobsHoldCounts) {
  Add({.owner = 0, .gpus = 4});
  Add({.gpus = 8}, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  Answer(1, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  hidden_ = {3};
  EXPECT_EQ(Enforced({{"a", 4}}), (Gpus{1, 7}));
}

TEST_F(GuaranteesTest, ARunningJobKeepsItsPlace) {
  Add({.owner = 0, .gpus = 2, .max = 2}, {{1, {2}, 0x6}});
  Add({.gpus = 8});
  Answer(1, {{0, {4}, 0xf}, {1, {4}, 0xf}});
  EXPECT_EQ(Enforced({{"a", 2}}), (Gpus{2, 6}));
  for (const auto& entry : shares_->allocation().entries()) {
    EXPECT_TRUE(entry.job != 0 || HoldsAlready(o_, 0, shares_->allocation(), entry));
  }
}

TEST_F(GuaranteesTest, AnAccountAboveItsGuaranteeGivesBack) {
  Add({.owner = 0, .gpus = 4});
  Add({.owner = 1, .gpus = 4}, {{0, {4}, 0xf}});
  Add({.owner = 1, .gpus = 4}, {{1, {4}, 0xf}});
  Answer(1, {{0, {4}, 0xf}});
  Answer(2, {{1, {4}, 0xf}});
  const Gpus gpus = Enforced({{"a", 3}, {"b", 5}});
  EXPECT_EQ(gpus[0], 3);
  EXPECT_EQ(gpus[1] + gpus[2], 5) << "and no more than it has above";
}

class TypedGuaranteesTest : public GuaranteesTest {
 protected:
  TypedGuaranteesTest() : GuaranteesTest("1x4:v100,1x4:k80") {}
};

TEST_F(TypedGuaranteesTest, AGuaranteeMayBeOfOneType) {
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
