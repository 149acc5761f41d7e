// Live jobs on GPUs of two types: what they are offered, and how fast they are believed to be
// where.

#include <gtest/gtest.h>

#include <memory>

#include "live/port/keep_on_error_policy.h"
#include "tests/unit/live/daemon_fixture.h"

namespace allot {
namespace {

constexpr GpuTypeIndex kV100 = 0;
constexpr GpuTypeIndex kK80 = 1;

class LiveGpuTypesTest : public DaemonTest {
 protected:
  LiveGpuTypesTest() {
    options_.interval = 10;
    runtime_.AddNode("n1", 4, "v100");
    runtime_.AddNode("n2", 4, "k80");
    runtime_.speeds["k80"] = 0.25;
  }

  void Serve() {
    DaemonTest::Serve();
    ASSERT_TRUE(port_->WaitForChange(0));
  }
  // The job in row 0 gets these GPUs of a node; types have the numbers of the nodes.
  void Give(NodeIndex node, std::uint64_t gpus) {
    const Observation& o = port_->Observe();
    const UnitCounts units(std::popcount(gpus));
    const NodeShare share{node, units, gpus};
    Allocation allocation;
    allocation.Add(o.job[0], o.table[0]->Find(units, static_cast<GpuTypeIndex>(node)), {&share, 1});
    const ApplyReport report = port_->Apply(allocation);
    ASSERT_TRUE(report.refused.ok()) << report.refused.message();
  }
  void Pass(int decisions) {
    for (int i = 0; i < decisions; ++i) port_->WaitForChange(0);
  }
  double RateOf(const LiveJob& job, GpuTypeIndex type) {
    return (*job.table)[job.table->Find(UnitCounts(1), type)].rate;
  }
};

TEST_F(LiveGpuTypesTest, AJobIsOfferedTheTypesThatItAccepts) {
  runtime_.AddJob("any", 1, 1, 4);
  runtime_.AddJob("one", 1, 1, 4).gpu_types = "k80|a100";
  Serve();
  EXPECT_EQ(JobOf("any").table->types(), (std::vector<GpuTypeIndex>{kV100, kK80}));
  EXPECT_EQ(JobOf("one").table->types(), std::vector<GpuTypeIndex>{kK80});
  Serve();
  EXPECT_EQ(JobOf("one").table->types(), std::vector<GpuTypeIndex>{kK80}) << "from the journal";
}

TEST_F(LiveGpuTypesTest, AJobOfATypeThatTheClusterHasNotWaitsUntilItComes) {
  runtime_.AddJob("a", 1, 1, 4);
  runtime_.AddJob("b", 2, 1, 4).gpu_types = "a100";
  Serve();
  EXPECT_EQ(port_->Observe().rows(), 1);
  EXPECT_EQ(JobOf("b").unfit,
            "a job must accept a GPU type of the cluster: job 'b' accepts 'a100', the cluster has "
            "v100, k80");
  runtime_.AddNode("n3", 4, "a100");
  Pass(1);
  EXPECT_EQ(port_->Observe().rows(), 2);
  EXPECT_EQ(JobOf("b").unfit, std::nullopt);
}

TEST_F(LiveGpuTypesTest, RatesAreMeasuredTypeByType) {
  runtime_.AddJob("a", 1, 1, 4);
  Serve();
  EXPECT_EQ(RateOf(JobOf("a"), kV100), 1) << "the prior";
  Give(0, 0b1);
  Pass(3);
  const double v100 = RateOf(JobOf("a"), kV100);
  EXPECT_NEAR(v100, 100, 5) << "10 a look, ten looks a second";
  EXPECT_EQ(RateOf(JobOf("a"), kK80), v100) << "nothing else is known of it";
  Give(1, 0b1);
  Pass(4);
  EXPECT_NEAR(RateOf(JobOf("a"), kK80), 25, 2);
  EXPECT_EQ(RateOf(JobOf("a"), kV100), v100);
  Serve();
  EXPECT_NEAR(RateOf(JobOf("a"), kK80), 25, 2) << "from the journal";
  EXPECT_NEAR(RateOf(JobOf("a"), kV100), v100, 1);
  runtime_.AddJob("next", 1, 1, 4);
  Pass(1);
  EXPECT_NEAR(RateOf(JobOf("next"), kK80), 25, 2) << "a job of the same model begins with these";
  runtime_.AddJob("stranger", 1, 1, 4).user = "another";
  Pass(1);
  EXPECT_EQ(RateOf(JobOf("stranger"), kK80), 1) << "another user's numbers decide nothing";
}

// A policy that gives two jobs the same GPUs.
class Pairs final : public Policy {
 public:
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation& o, Allocation* allocation) override {
    allocation->Clear();
    const NodeShare share{0, UnitCounts(1), 1};
    for (std::size_t row = 0; row < 2; ++row) {
      allocation->Add(o.job[row], o.table[row]->Find(UnitCounts(1), kV100), {&share, 1}, false,
                      o.job[1 - row]);
    }
  }

 private:
  PolicyInfo info_{"pairs", "two jobs on one GPU", "a test", false, false,
                   false,   RatesRead::kAll,       {},       {}};
};

TEST_F(LiveGpuTypesTest, TwoJobsOnOneGpuAreRefused) {
  runtime_.AddJob("a", 1, 1, 4);
  runtime_.AddJob("b", 1, 1, 4);
  Serve();
  Allocation allocation;
  Pairs().Decide(port_->Observe(), &allocation);
  EXPECT_EQ(port_->Validate(allocation).message(),
            "on a live cluster a job must be alone on its GPUs, job 0 shares them with job 1");
  KeepOnErrorPolicy kept(std::make_unique<Pairs>());
  kept.Decide(port_->Observe(), &allocation);
  EXPECT_EQ(kept.counts().failed, 1);
  EXPECT_TRUE(allocation.entries().empty()) << "everything stays as it is";
}

}  // namespace
}  // namespace allot
