// Choices in every registered setting, with its defaults: a choice that the mask allows is placed
// when it is the only one, in an allocation that validates; what the mask forbids no job alone
// could have; all choices together always give an allocation that validates.

#include <gtest/gtest.h>

#include "cluster/validate.h"
#include "core/index.h"
#include "core/rng.h"
#include "envs/cluster_env.h"
#include "envs/setting.h"

namespace allot {
namespace {

constexpr int kWindow = 12;
constexpr int kWidth = 64;
constexpr int kDecisions = 25;

class ChoiceConformance : public testing::TestWithParam<std::string> {};

// Nodes of the type that could hold a unit of each kind of the configuration are not enough.
bool BeyondTheCluster(const ClusterSpec& cluster, const ConfigurationTable& table,
                      const Configuration& c) {
  if (!c.demand.FitsIn(cluster.total_of(c.gpu_type))) return true;
  std::int64_t most = 0;  // units of the first kind, on as many nodes as the span allows
  std::vector<std::int64_t> rooms;
  const Resources unit = table.kinds().front().demand;
  for (const Node& node : cluster.nodes()) {
    if (node.type != c.gpu_type) continue;
    std::int64_t room = c.units.of(0);
    if (unit.gpus > 0) room = std::min<std::int64_t>(room, node.capacity.gpus / unit.gpus);
    if (unit.cpus > 0) room = std::min<std::int64_t>(room, node.capacity.cpus / unit.cpus);
    if (unit.memory_mb > 0) room = std::min(room, node.capacity.memory_mb / unit.memory_mb);
    if (room > 0) rooms.push_back(room);
  }
  std::sort(rooms.rbegin(), rooms.rend());
  if (rooms.size() < At(c.span.least) || c.units.of(0) < c.span.least) return true;
  for (std::size_t i = 0; i < std::min(rooms.size(), At(c.span.most)); ++i) most += rooms[i];
  return most < c.units.of(0) || table.kinds().size() > 1;
}

TEST_P(ChoiceConformance, MaskAndValidationAgree) {
  ClusterEnvOptions options;
  options.mode = ActionMode::kChoice;
  options.max_jobs = kWindow;
  options.max_configurations = kWidth;
  options.strict = true;
  ClusterEnv env(MakeSetting(GetParam()).episodes, options);
  env.Reset(1);
  ChoiceAction choice(kWindow, kWidth);
  Rng rng(1, "choices");
  std::vector<float> choices(kWindow);
  int legal = 0;
  for (int decision = 0; decision < kDecisions; ++decision) {
    const Observation& o = env.observation();
    choice.Begin(o);
    for (int slot = 0; slot < choice.slots(); ++slot) {
      const std::int32_t row = choice.row_of(slot);
      const ConfigurationTable& table = *o.table[At(row)];
      for (std::int32_t index = 0; index < std::min(table.size(), kWidth); ++index) {
        const bool allowed = choice.mask()[At(slot * (kWidth + 1) + index + 1)] == 1;
        if (!allowed) {
          ASSERT_TRUE(!table.Allocatable(index) || table[index].partner != kNoPartner ||
                      BeyondTheCluster(*o.cluster, table, table[index]))
              << "decision " << decision << ", slot " << slot << ", configuration " << index;
          continue;
        }
        if (rng.Below(4) != 0) continue;  // a part of them is enough, and quicker
        std::fill(choices.begin(), choices.end(), 0.0F);
        choices[At(slot)] = static_cast<float>(index + 1);
        Allocation alone;
        ASSERT_EQ(choice.Decode(choices, &alone).unplaced, 0)
            << "decision " << decision << ", slot " << slot << ", configuration " << index;
        ASSERT_EQ(alone.entries().size(), 1U);
        ASSERT_EQ(ValidateAllocation(o, alone).message(), "");
        ++legal;
      }
    }
    for (int slot = 0; slot < kWindow; ++slot) {
      int picked = 0;
      do {
        picked = static_cast<int>(rng.Below(kWidth + 1));
      } while (choice.mask()[At(slot * (kWidth + 1) + picked)] == 0);
      choices[At(slot)] = static_cast<float>(picked);
    }
    const StepResult result = env.Step(choices);  // throws where it does not validate
    ASSERT_FALSE(result.info.illegal_action);
    if (result.terminated) env.Reset(std::nullopt);
  }
  EXPECT_GT(legal, 10);
}

INSTANTIATE_TEST_SUITE_P(All, ChoiceConformance,
                         testing::ValuesIn(Registry<SettingInfo>::Global().ids()));

}  // namespace
}  // namespace allot
