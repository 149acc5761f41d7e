#include "live/daemon/shadow.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "perf/throughput_model.h"

namespace allot {
namespace {

// One job that may have one GPU or two of a node.
class ShadowTest : public testing::Test {
 protected:
  ShadowTest()
      : cluster_(ClusterSpec::Parse("1x2")),
        table_("t", {{"gpu", {1, 0}}},
               {{.units = {1}, .demand = {1, 0}, .cost = 1, .rate = 1},
                {.units = {2}, .demand = {2, 0}, .cost = 2, .rate = 1.5}}) {
    spdlog::set_level(spdlog::level::off);
    o_.interval = 10;
    o_.cluster = &cluster_;
    o_.job = {7};
    o_.submit = {0};
    o_.table = {&table_};
    o_.requested = {0};
    o_.running = {-1};
    o_.done_work = {0};
    o_.estimated_work = {kUnknown};
    o_.attained_gpu_seconds = o_.attained_seconds = o_.restart_cost = o_.waiting_since = {0};
    o_.changes = {0};
    o_.priority = {0};
    o_.deadline = {kNever};
    o_.tenant = {-1};
    o_.user = {-1};
    o_.group = {-1};
    o_.share_begin = {0, 0};
  }

  static Allocation Gpus(std::int16_t gpus) {
    Allocation allocation;
    const NodeShare share{0, {gpus, 0}, GpuMask(gpus)};
    allocation.Add(7, gpus - 1, std::span(&share, 1));
    return allocation;
  }

  ClusterSpec cluster_;
  ConfigurationTable table_;
  Observation o_;
};

class Made : public Policy {
 public:
  explicit Made(std::function<void(Allocation*)> decide) : decide_(std::move(decide)) {
    info_.id = "made";
  }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation&, Allocation* allocation) override { decide_(allocation); }

 private:
  PolicyInfo info_;
  std::function<void(Allocation*)> decide_;
};

class Count : public DecisionListener {
 public:
  void OnDecision(const Observation&, const Allocation&) override { ++decisions; }
  int decisions = 0;
};

TEST_F(ShadowTest, IsComparedByGpusAndLogged) {
  Shadow shadow("made", std::make_unique<Made>([](Allocation* a) { *a = Gpus(1); }));
  Count log;
  shadow.LogTo(&log);
  EXPECT_FALSE(shadow.agreement());
  shadow.OnDecision(o_, Gpus(2));
  EXPECT_EQ(shadow.agreement(), 0.5);
  shadow.OnDecision(o_, Gpus(1));
  EXPECT_DOUBLE_EQ(shadow.agreement().value(), 2.0 / 3);
  EXPECT_EQ(log.decisions, 2);
}

TEST_F(ShadowTest, FaultsAreCountedAndNothingElse) {
  int asked = 0;
  Shadow shadow("made", std::make_unique<Made>([&asked](Allocation* a) {
                  if (++asked == 1) throw std::runtime_error("a fault");
                  *a = Gpus(2);
                  if (asked == 2) *a = Gpus(1), a->Add(7, 0, {});  // twice, the second on nothing
                }));
  Count log;
  shadow.LogTo(&log);
  for (int i = 0; i < 3; ++i) shadow.OnDecision(o_, Gpus(2));
  EXPECT_EQ(shadow.failed(), 2);
  EXPECT_EQ(shadow.decisions(), 1);
  EXPECT_EQ(shadow.agreement(), 1);
  EXPECT_EQ(log.decisions, 1);
  EXPECT_EQ(shadow.status().failed, 2);
}

TEST_F(ShadowTest, OneThatTakesTooLongIsAskedNoMore) {
  o_.interval = 1e-9;
  Shadow shadow("made", std::make_unique<Made>([](Allocation* a) { *a = Gpus(2); }));
  shadow.OnDecision(o_, Gpus(2));
  o_.interval = 1e9;
  shadow.OnDecision(o_, Gpus(2));
  EXPECT_EQ(shadow.decisions(), 0);
  EXPECT_EQ(shadow.failed(), 1);
  EXPECT_FALSE(shadow.status().asked);
}

}  // namespace
}  // namespace allot
