#include "live/port/live_guarantees.h"

#include <gtest/gtest.h>

#include <bit>

namespace allot {
namespace {

// Eight GPUs on one node, of which "vision" is guaranteed four. "a" runs on all, nobody's; "v" of
// vision waits.
class LiveGuaranteesTest : public testing::Test {
 protected:
  LiveGuaranteesTest() {
    table_.SetCluster(cluster_);
    Give(Add("a", ""), 0xff);
    Add("v", "vision");
    Look({});
  }

  const LiveJob& Add(const std::string& id, const std::string& account) {
    RuntimeJob asked;
    asked.id = id;
    asked.user = id;
    if (!account.empty()) asked.account = account;
    asked.requested = 4;
    asked.max_gpus = 8;
    return table_.Add(std::make_shared<const RuntimeJob>(asked), 0, kNever);
  }
  static std::int32_t ConfigurationOf(const LiveJob& job, int gpus) {
    const auto configurations = job.table->configurations();
    for (std::size_t c = 0; c < configurations.size(); ++c) {
      if (configurations[c].demand.gpus == gpus) return static_cast<std::int32_t>(c);
    }
    return -1;
  }
  void Give(const LiveJob& job, std::uint64_t gpus) {
    const NodeShare share{0, UnitCounts(std::popcount(gpus)), gpus};
    table_.Give(job, ConfigurationOf(job, std::popcount(gpus)), {&share, 1}, 1);
  }
  void Look(const std::string& hidden) {
    observation_.cluster = &cluster_;
    table_.Observe([&](const LiveJob& job) { return job.asked->id == hidden; }, &observation_);
  }
  void Answer(const std::string& id, std::uint64_t gpus) {
    const LiveJob& job = *table_.Find(id);
    const NodeShare share{0, UnitCounts(std::popcount(gpus)), gpus};
    answer_.Add(job.index, ConfigurationOf(job, std::popcount(gpus)), {&share, 1});
  }
  int GpusOf(const Allocation& allocation, const std::string& id) {
    int gpus = 0;
    for (const Allocation::Entry& entry : allocation.entries()) {
      if (entry.job != table_.Find(id)->index) continue;
      for (const NodeShare& share : allocation.shares(entry)) gpus += std::popcount(share.gpus);
    }
    return gpus;
  }

  const std::shared_ptr<const OperatorRules> rules_ = std::make_shared<const OperatorRules>(
      OperatorRules::Parse("[[guarantees]]\naccount = \"vision\"\ngpus = 4\n", "rules"));
  const ClusterSpec cluster_ = ClusterSpec::Parse("1x8");
  JobTable table_{{.worker_group = {}, .rules = rules_}};
  LiveGuarantees guarantees_{rules_};
  Observation observation_;
  Allocation answer_;
};

TEST_F(LiveGuaranteesTest, AnAnswerThatLeavesAnAccountNothingIsPutRight) {
  Answer("a", 0xff);
  const Allocation& kept = guarantees_.Kept(observation_, table_, answer_);
  EXPECT_TRUE(guarantees_.put_right());
  EXPECT_EQ(GpusOf(kept, "a"), 4);
  EXPECT_EQ(GpusOf(kept, "v"), 4);
}

TEST_F(LiveGuaranteesTest, AnAnswerThatGivesAnAccountItsOwnStaysAsItIs) {
  Answer("a", 0x0f);
  Answer("v", 0xf0);
  EXPECT_EQ(&guarantees_.Kept(observation_, table_, answer_), &answer_);
  EXPECT_FALSE(guarantees_.put_right());
}

TEST_F(LiveGuaranteesTest, WithoutGuaranteesEveryAnswerStaysAsItIs) {
  Answer("a", 0xff);
  EXPECT_EQ(&LiveGuarantees(nullptr).Kept(observation_, table_, answer_), &answer_);
}

TEST_F(LiveGuaranteesTest, WhatIsNotSeenCountsForItsAccount) {
  Give(*table_.Find("a"), 0x0f);
  Give(Add("pinned", "vision"), 0xf0);
  Look("pinned");
  Answer("a", 0x0f);
  EXPECT_EQ(&guarantees_.Kept(observation_, table_, answer_), &answer_)
      << "vision has its four already";
}

}  // namespace
}  // namespace allot
