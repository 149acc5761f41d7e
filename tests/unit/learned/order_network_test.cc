// The network 'order': what its priorities and its sizing stage make of jobs.

#include <gtest/gtest.h>

#include "agents/learned/agent.h"
#include "models/checkpoint.h"
#include "models/index_net.h"
#include "sim/run.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

std::vector<Seconds> Finishes(const Scenario& scenario, Policy& policy) {
  std::vector<Seconds> finishes;
  for (const JobRecord& record : RunPolicy(scenario, policy).records) {
    finishes.push_back(record.finish);
  }
  return finishes;
}

struct Order {
  std::string network;
  std::string policy;
};

class SimpleOrders : public testing::TestWithParam<Order> {};

TEST_P(SimpleOrders, AreThoseOfThePolicyOfThatName) {
  const auto scenario = allot::SmallScenario(3, 60);
  const auto learned = MakeLearnedPolicy({MakeNetwork(GetParam().network, 1), {}});
  const auto policy = MakePolicy(GetParam().policy);
  EXPECT_EQ(Finishes(*scenario, *learned), Finishes(*scenario, *policy));
}

INSTANTIATE_TEST_SUITE_P(
    OrderNetwork, SimpleOrders,
    testing::Values(Order{"order:by=service,hidden=4", "las"},
                    Order{"order:by=service,hidden=4,sizing=requested/backfill=false",
                          "las:sizing=requested/backfill=false"},
                    Order{"order:by=submission,hidden=4", "fifo:ordering=submit/preemptive=true"}),
    [](const auto& tested) { return fmt::format("Order{}", tested.index); });

TEST(OrderNetwork, RefusesASizingThatIsNone) {
  ExpectError(ExitCode::kUsage, {"sizing", "'hul'"}, [] { MakeNetwork("order:sizing=hul", 1); });
  ExpectError(ExitCode::kUsage, {"'order'", "finds its own"},
              [] { MakeNetwork("order:sizing=alignment", 1); });
}

TEST(OrderNetwork, RefusesACheckpointWhoseSizingIsNone) {
  const testing_support::TempFolder folder;
  Checkpoint checkpoint;
  checkpoint.weights = MakeNetwork("order:hidden=4", 1);
  checkpoint.feature_version = NetworkOf(checkpoint.weights).feature_version;
  checkpoint.state = nlohmann::json::object();
  checkpoint.config = nlohmann::json::object();
  checkpoint.weights.sizes["sizing"] = "hul";
  const std::string path = (folder / "checkpoint").string();
  SaveCheckpoint(checkpoint, path);
  ExpectError(ExitCode::kBadData, {path, "'sizing'", "'hul'"}, [&] { LoadAgent(path); });
}

}  // namespace
}  // namespace allot
