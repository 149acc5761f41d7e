#include "sim/network_load.h"

#include <gtest/gtest.h>

#include "cluster/topology_text.h"

namespace allot {
namespace {

constexpr Communication kThird{1.0F / 3, CommunicationPattern::kRing};

class NetworkLoadTest : public ::testing::Test {
 protected:
  NetworkLoadTest() : cluster_(ClusterSpec::Parse("8x8")) {
    ReadReport report;
    cluster_.SetTopology(ParseTopology("leaf=4:uplink=1", cluster_, &report));
    load_.emplace(*cluster_.topology(), 4);
  }

  static std::vector<NodeShare> On(const std::vector<NodeIndex>& nodes) {
    std::vector<NodeShare> shares;
    shares.reserve(nodes.size());
    for (const NodeIndex node : nodes) shares.push_back({node, UnitCounts(8), GpuMask(8)});
    return shares;
  }
  std::vector<JobIndex> Update() {
    const auto changed = load_->Update();
    return {changed.begin(), changed.end()};
  }

  ClusterSpec cluster_;
  std::optional<NetworkLoad> load_;
};

TEST_F(NetworkLoadTest, ARingNeedsOneNodesBandwidthAndAllToAllHalfTheSmallerSide) {
  EXPECT_EQ(UplinkDemand(CommunicationPattern::kRing, 3, 4), 1);
  EXPECT_EQ(UplinkDemand(CommunicationPattern::kRing, 1, 4), 1);
  EXPECT_EQ(UplinkDemand(CommunicationPattern::kAllToAll, 3, 4), 0.5);
  EXPECT_EQ(UplinkDemand(CommunicationPattern::kAllToAll, 2, 4), 1);
  EXPECT_EQ(UplinkDemand(CommunicationPattern::kRing, 4, 4), 0);
}

TEST_F(NetworkLoadTest, AJobAloneOnALinkThatCarriesItIsNotSlowed) {
  load_->Place(0, kThird, On({0, 4}));
  EXPECT_EQ(Update(), std::vector<JobIndex>{});
  EXPECT_EQ(load_->congestion(0), 1);
  EXPECT_FALSE(load_->SharesUplink(0));
}

TEST_F(NetworkLoadTest, TwoJobsOnAFullLinkSlowEachOtherByAThird) {
  load_->Place(0, kThird, On({0, 4}));
  load_->Place(1, kThird, On({1, 5}));
  EXPECT_EQ(Update(), (std::vector<JobIndex>{0, 1}));
  EXPECT_NEAR(load_->congestion(0), 4.0 / 3, 1e-7);  // so an iteration takes 1.111
  EXPECT_TRUE(load_->SharesUplink(0));
}

TEST_F(NetworkLoadTest, JobsInOneLeafUseNoUplink) {
  load_->Place(0, kThird, On({0, 1}));
  load_->Place(1, kThird, On({2, 4}));
  EXPECT_EQ(Update(), std::vector<JobIndex>{});
  EXPECT_FALSE(load_->SharesUplink(1));
}

TEST_F(NetworkLoadTest, TheEndOfAJobFreesItsUplinks) {
  load_->Place(0, kThird, On({0, 4}));
  load_->Place(1, kThird, On({1, 5}));
  Update();
  load_->Remove(1);
  EXPECT_EQ(Update(), std::vector<JobIndex>{0});
  EXPECT_EQ(load_->congestion(0), 1);
}

TEST_F(NetworkLoadTest, SumsDoNotDependOnThePast) {
  const Communication odd{0.1F, CommunicationPattern::kAllToAll};
  load_->Place(0, kThird, On({0, 4}));
  load_->Place(1, odd, On({1, 5}));
  Update();
  const double before = load_->congestion(0);
  for (int i = 0; i < 10; ++i) {
    load_->Place(2, {0.7F, CommunicationPattern::kRing}, On({2, 6}));
    Update();
    load_->Remove(2);
    Update();
  }
  EXPECT_EQ(load_->congestion(0), before);
}

}  // namespace
}  // namespace allot
