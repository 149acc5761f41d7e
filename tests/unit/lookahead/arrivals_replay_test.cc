#include "agents/lookahead/arrivals_replay.h"

#include <gtest/gtest.h>

#include <optional>

namespace allot {
namespace {

ConfigurationTable OneGpu(double rate) {
  return {"t", {{"gpu", {1, 0}}}, {{.units = {1}, .demand = {1, 0}, .cost = 1, .rate = rate}}};
}

// A live job's table is made anew when its rate is measured, here at the same address.
TEST(ArrivalsReplayTest, ATableThatChangedInItsPlaceIsSeen) {
  const ClusterSpec cluster = ClusterSpec::Parse("1x1");
  std::optional<ConfigurationTable> table(OneGpu(1));
  Observation o;
  o.interval = 10;
  o.cluster = &cluster;
  o.job = {0};
  o.submit = {0};
  o.table = {&*table};
  o.requested = {0};
  o.running = {0};
  o.done_work = {0};
  o.estimated_work = {100};
  o.attained_gpu_seconds = o.attained_seconds = o.restart_cost = o.waiting_since = {0};
  o.changes = {1};
  o.priority = {0};
  o.deadline = {kNever};
  o.tenant = {-1};
  o.user = {-1};
  o.group = {-1};
  o.shares = {{0, {1, 0}, 1}};
  o.share_begin = {0, 1};
  ArrivalsReplay replay(SimOptions{}, 10);
  replay.OnEpisodeStart();
  replay.Observe(o);
  table.emplace(OneGpu(4));  // 100 units take 25 s, not 100 s
  o.now = 1000;
  replay.Observe(o);
  const auto fifo = MakePolicy("fifo");
  EXPECT_LE(replay.SimulatedMeanJct(o, *fifo), 40);
}

}  // namespace
}  // namespace allot
