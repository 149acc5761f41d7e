// The names that heuristics give to compositions of stages; the stages have tests of their own, and
// the conformance and golden tests run every policy.

#include <gtest/gtest.h>

#include "sched/policy.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::AsSet;
using testing_support::World;
using Gpus = std::vector<std::int16_t>;
using Placed = std::map<JobIndex, std::string>;

Placed Decide(const World& world, const std::string& spec) {
  Allocation allocation;
  MakePolicy(spec)->Decide(world.o, &allocation);
  return AsSet(allocation);
}

// One GPU. Job 0 came first, is longest, has been served most and runs.
class PoliciesTest : public testing::Test {
 protected:
  PoliciesTest() : world_("1x1") {
    for (int job = 0; job < 3; ++job) world_.Add({{1}});
    world_.Run(0, 0, {{0, 1}});
    world_.o.attained_gpu_seconds = {900, 500, 100};
    world_.o.done_work = {900, 500, 100};
    world_.o.estimated_work = {2000, 600, 1000};
  }
  JobIndex Served(const std::string& spec) {
    const Placed placed = Decide(world_, spec);
    EXPECT_EQ(placed.size(), 1U) << spec;
    return placed.empty() ? -1 : placed.begin()->first;
  }
  World world_;
};

TEST_F(PoliciesTest, FifoAndSjfDoNotPreempt) {
  EXPECT_EQ(Served("fifo"), 0);
  EXPECT_EQ(Served("sjf"), 0);
}

TEST_F(PoliciesTest, SrtfServesTheShortestRemaining) { EXPECT_EQ(Served("srtf"), 1); }

TEST_F(PoliciesTest, LasServesTheLeastServed) { EXPECT_EQ(Served("las"), 2); }

TEST_F(PoliciesTest, LasWithQueuesIsFirstComeFirstServedInside) {
  EXPECT_EQ(Served("las:queues=800"), 1);
  EXPECT_EQ(Served("las:queues=10000"), 0);
}

TEST_F(PoliciesTest, TiresiasPromotesOnlyWhenTold) {
  world_.o.now = 10000;
  world_.o.waiting_since = {10000, 2, 2};
  world_.o.attained_gpu_seconds = {900, 60000, 70000};
  world_.o.attained_seconds = {900, 6000, 7000};
  EXPECT_EQ(Served("tiresias"), 0);
  EXPECT_EQ(Served("tiresias:promote=1"), 0);  // first come, first served in the first queue
  world_.o.attained_gpu_seconds[0] = 60000;
  EXPECT_EQ(Served("tiresias"), 0);
  EXPECT_EQ(Served("tiresias:promote=1"), 1);
}

TEST_F(PoliciesTest, EasyBackfillsOnlyWhatDoesNotDelayTheHead) {
  World world("1x4");
  for (const std::int16_t gpus : Gpus{2, 4, 1, 1}) world.Add({{1, 1, 1, 1}}, gpus);
  world.Run(0, 1, {{0, 0b0011}});
  world.o.estimated_work = {1000, 500, 2000, 900};
  EXPECT_EQ(Decide(world, "fifo").count(2), 1U);
  EXPECT_EQ(Decide(world, "easy"),
            (Placed{{0, "configuration 1: 0/0x3"}, {3, "configuration 0: 0/0x4"}}));
}

TEST_F(PoliciesTest, MaxMinTakesTurns) {
  world_.o.now = 2000;
  EXPECT_EQ(Served("max-min"), 2);  // least done
  world_.o.done_work[2] = 600;
  EXPECT_EQ(Served("max-min"), 1);
}

TEST_F(PoliciesTest, GittinsIsLeastAttainedServiceAtFirst) {
  EXPECT_EQ(Served("gittins"), 2);
  EXPECT_TRUE(MakePolicy("gittins:ordering=gittins-given-estimate")->info().needs_lengths);
  EXPECT_FALSE(MakePolicy("gittins")->info().needs_lengths);
}

// Whoever reads lengths says so: tables mark its rows where lengths are the true ones.
TEST_F(PoliciesTest, TheIndexSaysWhetherItReadsLengths) {
  const auto reads = [](const std::string& parameters) {
    return MakePolicy("index:basis=attained" + parameters)->info().needs_lengths;
  };
  EXPECT_FALSE(reads(""));
  for (const char* parameters :
       {",soon=1", ",repay=true", ",joint=true", ",fairness=1", ",late=1"}) {
    EXPECT_TRUE(reads(parameters)) << parameters;
  }
}

// The first of three jobs is taken to be by far the longest, and has waited while the others ran.
// Were it a tenth as long, it would be done by now.
TEST_F(PoliciesTest, TheIndexServesWhoIsLateThoughItMayBeShort) {
  const auto served = [](const std::string& cluster, Seconds now, const std::string& spec) {
    World world(cluster);
    for (int i = 0; i < 3; ++i) world.Add({{1}});
    world.o.estimated_work = {90000, 20000, 30000};
    world.o.done_work = {0, 19000, 19000};
    world.o.now = now;
    std::vector<JobIndex> jobs;
    for (const auto& [job, places] : Decide(world, spec)) jobs.push_back(job);
    return jobs;
  };
  const std::string late = "index:alpha=0,rank=1,late=16";
  EXPECT_EQ(served("1x2", 60000, "index:alpha=0,rank=1"), (std::vector<JobIndex>{1, 2}));
  EXPECT_EQ(served("1x2", 60000, late), (std::vector<JobIndex>{0, 1}));
  EXPECT_EQ(served("1x2", 600, late), (std::vector<JobIndex>{1, 2})) << "it has just come";
  EXPECT_EQ(served("1x1", 60000, late), (std::vector<JobIndex>{1})) << "no further than the median";
}

TEST_F(PoliciesTest, StagesCanBeExchangedFromTheSpec) {
  World world("1x4");
  world.Add({{1, 1.9, 2.7, 3.4}}, 4);
  world.Add({{1, 1.9, 2.7, 3.4}}, 4);
  EXPECT_EQ(Decide(world, "las"), (Placed{{0, "configuration 3: 0/0xf"}}));
  EXPECT_EQ(Decide(world, "las:sizing=hull/alpha=1"),
            (Placed{{0, "configuration 1: 0/0x3"}, {1, "configuration 1: 0/0xc"}}));
}

TEST_F(PoliciesTest, UnknownNamesComeWithAHint) {
  ExpectError(ExitCode::kUsage, {"unknown policy 'optimuss'", "did you mean 'optimus'"},
              [] { MakePolicy("optimuss"); });
  ExpectError(ExitCode::kUsage, {"policy 'las'", "queue", "did you mean 'queues'"},
              [] { MakePolicy("las:queue=3"); });
}

TEST_F(PoliciesTest, IndexChecksItsBasis) {
  ExpectError(ExitCode::kUsage,
              {"'basis' must be remaining, attained, gittins, profile or submit", "'age'"},
              [] { MakePolicy("index:basis=age"); });
}

}  // namespace
}  // namespace allot
