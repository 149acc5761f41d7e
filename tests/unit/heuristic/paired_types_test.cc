// Policies with types=paired put jobs on the same GPUs where both together get more done.

#include <gtest/gtest.h>

#include "cluster/validate.h"
#include "sched/policy.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// One GPU: rate 1 alone, `beside` with a job of profile `partner` on the same GPU. By type.
ConfigurationTable Table(const std::string& name, const std::string& partner,
                         const std::vector<std::pair<double, double>>& rates) {
  std::vector<Configuration> configurations;
  for (std::size_t type = 0; type < rates.size(); ++type) {
    for (const bool alone : {true, false}) {
      configurations.push_back({.units = {1},
                                .gpu_type = static_cast<GpuTypeIndex>(type),
                                .partner = alone ? kNoPartner : std::int16_t{0},
                                .demand = {1, 0},
                                .cost = 1,
                                .rate = alone ? rates[type].first : rates[type].second});
    }
  }
  return ConfigurationTable(name, {{"gpu", {1, 0}}}, configurations, {1, 0}, {partner});
}

// Who shares a GPU with whom, after an answer that must be legal. kAlone: runs alone; -2: waits.
std::vector<JobIndex> Partners(const World& world, const std::string& policy) {
  Allocation allocation;
  MakePolicy(policy)->Decide(world.o, &allocation);
  const Status legal = ValidateAllocation(world.o, allocation);
  EXPECT_TRUE(legal.ok()) << legal.message();
  std::vector<JobIndex> partners(world.o.job.size(), -2);
  for (const Allocation::Entry& entry : allocation.entries()) {
    partners[static_cast<std::size_t>(entry.job)] = entry.partner;
  }
  return partners;
}

class PairedTypesTest : public testing::TestWithParam<const char*> {};

TEST_P(PairedTypesTest, TwoShareWhereTheyGetMoreDoneTogether) {
  World world("1x1:fast");
  world.Add(Table("a", "b", {{1, .7}}), {1});
  world.Add(Table("b", "a", {{1, .6}}), {1});
  EXPECT_EQ(Partners(world, GetParam()), (std::vector<JobIndex>{1, 0}));
}

TEST_P(PairedTypesTest, NobodySharesWhereTheyGetLessDoneTogether) {
  World world("1x1:fast");
  world.Add(Table("a", "b", {{1, .4}}), {1});
  world.Add(Table("b", "a", {{1, .5}}), {1});
  EXPECT_EQ(Partners(world, GetParam()), (std::vector<JobIndex>{kAlone, -2}));
}

TEST_P(PairedTypesTest, NobodySharesWhileGpusAreFree) {
  World world("2x1:fast");
  world.Add(Table("a", "b", {{1, .9}}), {1});
  world.Add(Table("b", "a", {{1, .9}}), {1});
  EXPECT_EQ(Partners(world, GetParam()), (std::vector<JobIndex>{kAlone, kAlone}));
}

TEST_P(PairedTypesTest, SharingTheFastTypeBeatsTheSlowOne) {
  World world("1x1:fast,1x1:slow");
  world.Add(Table("a", "b", {{1, .8}, {.3, .2}}), {1});
  world.Add(Table("b", "a", {{1, .8}, {.3, .2}}), {1});
  EXPECT_EQ(Partners(world, GetParam()), (std::vector<JobIndex>{1, 0}));
}

TEST_P(PairedTypesTest, APairPartsWhenAGpuIsFree) {
  World world("2x1:fast");
  world.Add(Table("a", "b", {{1, .7}}), {1});
  world.Add(Table("b", "a", {{1, .7}}), {1});
  world.o.partner = {1, 0};
  world.Run(0, 1, {{0, 1}});
  world.Run(1, 1, {{0, 1}});
  EXPECT_EQ(Partners(world, GetParam()), (std::vector<JobIndex>{kAlone, kAlone}));
}

TEST_P(PairedTypesTest, APairThatRunsStays) {
  World world("1x1:fast");
  world.Add(Table("a", "b", {{1, .7}}), {1});
  world.Add(Table("b", "a", {{1, .7}}), {1});
  world.Add(Table("a", "b", {{1, .7}}), {1});
  world.o.partner = {kAlone, 2, 1};
  world.Run(1, 1, {{0, 1}});
  world.Run(2, 1, {{0, 1}});
  EXPECT_EQ(Partners(world, GetParam()), (std::vector<JobIndex>{-2, 2, 1}));
}

INSTANTIATE_TEST_SUITE_P(Policies, PairedTypesTest,
                         testing::Values("assignment:types=paired", "las:types=paired",
                                         "index:alpha=0,types=paired"));

}  // namespace
}  // namespace allot
