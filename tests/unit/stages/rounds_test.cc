#include "stages/rounds/rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/rng.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// Fractions of `rounds` rounds that each job had on each type, as "job/type".
std::map<std::pair<JobIndex, GpuTypeIndex>, double> Received(World& world,
                                                             const std::vector<TimeShare>& targets,
                                                             int rounds,
                                                             const RoundsOptions& options = {}) {
  std::vector<std::int32_t> rows(world.o.job.size());
  std::iota(rows.begin(), rows.end(), 0);
  Rounds mechanism(options);
  mechanism.OnEpisodeStart({});
  std::map<std::pair<JobIndex, GpuTypeIndex>, double> received;
  std::vector<Rounds::Given> given;
  for (int round = 0; round < rounds; ++round) {
    mechanism.Begin(world.o, rows, round == 0);
    if (round == 0) mechanism.Aim(world.o, targets);
    given.clear();
    mechanism.Fill(world.o, &given);
    std::fill(world.o.running.begin(), world.o.running.end(), -1);
    for (const Rounds::Given& one : given) {
      const auto row = static_cast<std::size_t>(one.row);
      EXPECT_EQ(world.o.running[row], -1) << "a job has one place a round";
      world.o.running[row] = one.configuration;
      const GpuTypeIndex type = (*world.o.table[row])[one.configuration].gpu_type;
      received[{world.o.job[row], type}] += 1.0 / rounds;
    }
    world.o.now += world.o.interval;
  }
  return received;
}

std::int32_t On(const World& world, std::int32_t row, GpuTypeIndex type) {
  return world.o.table[static_cast<std::size_t>(row)]->OnType(
      world.o.requested[static_cast<std::size_t>(row)], type);
}

TEST(RoundsTest, TwoJobsTakeTurnsOnOneGpu) {
  World world("1x1");
  world.Add({{1}});
  world.Add({{1}});
  const auto received = Received(world, {{0, 0, 0.75}, {1, 0, 0.25}}, 400);
  EXPECT_NEAR(received.at({0, 0}), 0.75, 0.01);
  EXPECT_NEAR(received.at({1, 0}), 0.25, 0.01);
}

TEST(RoundsTest, SharesBelowTheLeastCountAsNone) {
  // A residue of a solver on the fast type; job 1 alone belongs there.
  World world("1x1:v100,1x1:k80");
  world.Add({{1}, {1}});
  world.Add({{2}, {1}});
  const auto received = Received(
      world, {{0, On(world, 0, 0), 1e-9}, {0, On(world, 0, 1), 1}, {1, On(world, 1, 0), 1}}, 50);
  EXPECT_EQ(received.count({0, 0}), 0U);
  EXPECT_NEAR(received.at({1, 0}), 1, 1e-9);
}

TEST(RoundsTest, AnOrderNamesGpuTypes) {
  World world("1x1:v100,1x1:k80");
  world.Add({{1}, {1}});
  // One order serves several clusters: p100 is measured, though not here.
  Received(world, {}, 1, {.order = {"p100", "k80"}});
  ExpectError(ExitCode::kUsage, {"'order'", "v100", "'v1OO'"},
              [&] { Received(world, {}, 1, {.order = {"v1OO"}}); });
}

TEST(RoundsTest, SizesOfAJobAreEntriesOfTheirOwn) {
  // Three sizes in turn; each keeps what it received when targets are set again.
  World world("1x4");
  world.Add({{1, 2, 3, 4}});
  Rounds mechanism;
  mechanism.OnEpisodeStart({});
  const std::vector<std::int32_t> rows{0};
  std::vector<TimeShare> targets{{0, 1, 0.5}, {0, 2, 0.25}, {0, 3, 0.25}};
  std::map<std::int32_t, int> rounds;
  std::vector<Rounds::Given> given;
  for (int round = 0; round < 80; ++round) {
    mechanism.Begin(world.o, rows, round == 0);
    if (round % 2 == 0) mechanism.Aim(world.o, targets);
    std::rotate(targets.begin(), targets.begin() + 1, targets.end());
    given.clear();
    mechanism.Fill(world.o, &given);
    ASSERT_EQ(given.size(), 1U);
    world.o.running[0] = given[0].configuration;
    ++rounds[given[0].configuration];
    world.o.now += world.o.interval;
  }
  EXPECT_NEAR(rounds[1], 40, 2);
  EXPECT_NEAR(rounds[2], 20, 2);
  EXPECT_NEAR(rounds[3], 20, 2);
}

TEST(RoundsTest, WhatIsLeftGoesWhereItIsFastestRelativeToTheJobsBest) {
  // Both have no shares. Job 0 is 10 times as fast on v100, job 1 twice.
  World world("1x1:v100,1x1:k80");
  world.Add({{10}, {1}});
  world.Add({{200}, {100}});
  const auto received = Received(world, {}, 10);
  EXPECT_NEAR(received.at({0, 0}), 1, 1e-9);
  EXPECT_NEAR(received.at({1, 1}), 1, 1e-9);
}

TEST(RoundsTest, ADeficitIsKeptOverNewTargets) {
  World world("1x1");
  world.Add({{1}});
  world.Add({{1}});
  Rounds mechanism;
  mechanism.OnEpisodeStart({});
  const std::vector<std::int32_t> rows{0, 1};
  const std::vector<TimeShare> equal{{0, 0, 0.5}, {1, 0, 0.5}};
  mechanism.Begin(world.o, rows, true);
  mechanism.Aim(world.o, equal);
  std::vector<Rounds::Given> given;
  mechanism.Fill(world.o, &given);
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].row, 0);
  world.o.running[0] = 0;  // job 0 had the first round
  world.o.now += world.o.interval;
  mechanism.Begin(world.o, rows, true);
  mechanism.Aim(world.o, equal);
  given.clear();
  mechanism.Fill(world.o, &given);
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].row, 1);
  EXPECT_FLOAT_EQ(given[0].share, 0.5F);
}

TEST(RoundsTest, WhatWasReceivedBeforeTheTargetsCountsOnRequest) {
  // Both shall have half of the GPU from now on, and job 0 had it for 20 rounds.
  const auto rounds_until_it_runs = [](bool remember) {
    World world("1x1");
    world.Add({{1}});
    world.Add({{1}});
    RoundsOptions options;
    options.remember = remember;
    options.leftovers = RoundsOptions::Leftovers::kNone;
    Rounds mechanism(options);
    mechanism.OnEpisodeStart({});
    const std::vector<std::int32_t> rows{0, 1};
    std::vector<Rounds::Given> given;
    for (int round = 0; round < 60; ++round) {
      mechanism.Begin(world.o, rows, round == 0 || round == 20);
      if (round == 0) mechanism.Aim(world.o, std::vector<TimeShare>{{0, 0, 1}});
      if (round == 20) mechanism.Aim(world.o, std::vector<TimeShare>{{0, 0, 0.5}, {1, 0, 0.5}});
      given.clear();
      mechanism.Fill(world.o, &given);
      if (round >= 20 && given[0].row == 0) return round - 20;
      std::fill(world.o.running.begin(), world.o.running.end(), -1);
      world.o.running[static_cast<std::size_t>(given[0].row)] = given[0].configuration;
      world.o.now += world.o.interval;
    }
    return 60;
  };
  EXPECT_LE(rounds_until_it_runs(false), 2);
  EXPECT_GE(rounds_until_it_runs(true), 19);
}

// Rows that the first round gives something, as "row on type", with these targets.
std::vector<std::pair<std::int32_t, GpuTypeIndex>> FirstRound(World& world,
                                                              const std::vector<TimeShare>& targets,
                                                              const RoundsOptions& options) {
  std::vector<std::int32_t> rows(world.o.job.size());
  std::iota(rows.begin(), rows.end(), 0);
  Rounds mechanism(options);
  mechanism.OnEpisodeStart({});
  mechanism.Begin(world.o, rows, true);
  mechanism.Aim(world.o, targets);
  std::vector<Rounds::Given> given;
  mechanism.Fill(world.o, &given);
  std::vector<std::pair<std::int32_t, GpuTypeIndex>> result;
  for (const Rounds::Given& one : given) {
    const auto& table = *world.o.table[static_cast<std::size_t>(one.row)];
    result.emplace_back(one.row, table[one.configuration].gpu_type);
  }
  return result;
}

using Places = std::vector<std::pair<std::int32_t, GpuTypeIndex>>;

// Two GPUs of each type; job 0 has a share of k80 alone, job 1 of nothing.
class LeftoversTest : public testing::Test {
 protected:
  LeftoversTest() : world_("1x2:v100,1x2:k80") {
    world_.Add({{4}, {1}});
    world_.Add({{4}, {1}});
    targets_ = {{0, On(world_, 0, 1), 1}};
    options_.global = false;
  }
  World world_;
  std::vector<TimeShare> targets_;
  RoundsOptions options_;
};

TEST_F(LeftoversTest, BestServesSharesFirst) {
  EXPECT_EQ(FirstRound(world_, targets_, options_), (Places{{1, 0}, {0, 1}}));
}

TEST_F(LeftoversTest, InTurnFillsATypeBeforeTheNext) {
  options_.leftovers = RoundsOptions::Leftovers::kInTurn;
  EXPECT_EQ(FirstRound(world_, targets_, options_), (Places{{0, 0}, {1, 0}}));
}

TEST_F(LeftoversTest, NoneLeavesThemFree) {
  options_.leftovers = RoundsOptions::Leftovers::kNone;
  EXPECT_EQ(FirstRound(world_, targets_, options_), (Places{{0, 1}}));
}

TEST_F(LeftoversTest, TheOrderOfTypesCanBeGiven) {
  options_.leftovers = RoundsOptions::Leftovers::kInTurn;
  options_.order = {"k80", "p100"};
  EXPECT_EQ(FirstRound(world_, {}, options_), (Places{{0, 1}, {1, 1}}));
}

TEST_F(LeftoversTest, ResiduesCountOnRequest) {
  // 1e-9 of a v100 for job 1: it waits, or goes there.
  targets_.push_back({1, On(world_, 1, 0), 1e-9});
  options_.leftovers = RoundsOptions::Leftovers::kNone;
  EXPECT_EQ(FirstRound(world_, targets_, options_), (Places{{0, 1}}));
  options_.residues = true;
  EXPECT_EQ(FirstRound(world_, targets_, options_), (Places{{1, 0}, {0, 1}}));
}

TEST(RoundsTest, WhoCameSinceTheTargetsHoldsGpusIdleOnRequest) {
  for (const bool hold : {false, true}) {
    World world("1x2");
    world.Add({{1}});
    RoundsOptions options;
    options.hold = hold;
    options.leftovers = RoundsOptions::Leftovers::kInTurn;
    Rounds mechanism(options);
    mechanism.OnEpisodeStart({});
    mechanism.Begin(world.o, std::vector<std::int32_t>{0}, true);
    mechanism.Aim(world.o, std::vector<TimeShare>{{0, 0, 1}});
    world.Add({{1}});
    world.Add({{1}});
    world.o.now += world.o.interval;
    mechanism.Begin(world.o, std::vector<std::int32_t>{0, 1, 2}, true);
    std::vector<Rounds::Given> given;
    mechanism.Fill(world.o, &given);
    EXPECT_EQ(given.size(), hold ? 1U : 2U);
  }
}

TEST(RoundsTest, ALeaseKeepsWhoRuns) {
  // Two jobs take turns on one GPU, for as many rounds as the lease says.
  for (const int rounds : {1, 4}) {
    World world("1x1");
    world.Add({{1}});
    world.Add({{1}});
    RoundsOptions options;
    options.lease = ((rounds - 1) * world.o.interval + 1) / 30;  // times the restart cost
    Rounds mechanism(options);
    mechanism.OnEpisodeStart({});
    std::string turns;
    for (int round = 0; round < 8; ++round) {
      mechanism.Begin(world.o, std::vector<std::int32_t>{0, 1}, round == 0);
      if (round == 0) mechanism.Aim(world.o, std::vector<TimeShare>{{0, 0, 0.5}, {1, 0, 0.5}});
      std::vector<Rounds::Given> given;
      mechanism.Fill(world.o, &given);
      std::fill(world.o.running.begin(), world.o.running.end(), -1);
      for (const Rounds::Given& one : given) {
        world.o.running[static_cast<std::size_t>(one.row)] = one.configuration;
        turns += static_cast<char>('0' + one.row);
      }
      world.o.now += world.o.interval;
    }
    EXPECT_EQ(turns, rounds == 1 ? "01010101" : "00001111");
  }
}

// The hardest targets that some sequence of rounds meets: means of random assignments that leave no
// GPU idle.
TEST(RoundsTest, ReceivedFractionsConvergeToTheTargets) {
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng(seed, "rounds");
    World world("1x4:a,1x2:b,1x2:c");
    const auto jobs = static_cast<std::int32_t>(9 + rng.Below(6));
    for (std::int32_t j = 0; j < jobs; ++j) world.Add({{1}, {1}, {1}});
    std::map<std::pair<std::int32_t, GpuTypeIndex>, double> wanted;
    constexpr int kAssignments = 5;
    for (int a = 0; a < kAssignments; ++a) {
      std::vector<std::int32_t> order(static_cast<std::size_t>(jobs));
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[rng.Below(i + 1)]);
      const GpuTypeIndex types[] = {0, 0, 0, 0, 1, 1, 2, 2};
      for (std::size_t i = 0; i < std::size(types); ++i) {
        wanted[{order[i], types[i]}] += 1.0 / kAssignments;
      }
    }
    std::vector<TimeShare> targets;
    targets.reserve(wanted.size());
    for (const auto& [at, share] : wanted) {
      targets.push_back({at.first, On(world, at.first, at.second), share});
    }
    const auto received = Received(world, targets, 3000);
    for (const auto& [at, share] : wanted) {
      const auto got = received.find({at.first, at.second});
      const double error = std::abs((got == received.end() ? 0 : got->second) - share);
      worst = std::max(worst, error);
    }
  }
  EXPECT_LT(worst, 0.05);
}

}  // namespace
}  // namespace allot
