// The interior point method against Clp, and what is refused.

#include "solve/block_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "solve/block_general.h"
#include "solve/block_interior_point.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/solve/random_problem.h"

namespace allot {
namespace {

using testing_support::BrokenBy;
using testing_support::LevelBlocks;
using testing_support::RandomShares;

struct BlockCase {
  int types = 3;
  int jobs = 10;
  bool degenerate = false;
  std::uint64_t seed = 0;
  ShareProblem shares() const { return RandomShares(jobs, types, seed, degenerate); }
  std::string text() const {
    return fmt::format("{} jobs on {} types, seed {}{}", jobs, types, seed,
                       degenerate ? ", degenerate" : "");
  }
};

std::vector<BlockCase> BlockCases() {
  std::vector<BlockCase> instances;
  for (const int types : {1, 2, 3, 4, 5, 6, 7, 8, 10}) {
    for (const bool degenerate : {false, true}) {
      for (const int jobs : {1, 2, 7, 40}) {
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
          instances.push_back({types, jobs, degenerate, seed});
        }
      }
    }
  }
  return instances;
}

double LevelOf(const BlockProblem& problem, const std::vector<double>& share) {
  const std::vector<double> theta = internal::RatesUnder(problem, share);
  double level = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < theta.size(); ++i) {
    level = std::min(level, (theta[i] - problem.blocks[i].need) / problem.blocks[i].slope);
  }
  return level;
}

TEST(BlockProblemTest, LevelsAreThoseOfClp) {
  int general = 0;
  for (const BlockCase& instance : BlockCases()) {
    SCOPED_TRACE(instance.text());
    const ShareProblem shares = instance.shares();
    const BlockProblem problem = LevelBlocks(shares);
    const BlockAnswer answer = MaximiseLevel(problem);
    EXPECT_EQ(BrokenBy(shares, answer.share), "");
    EXPECT_NEAR(LevelOf(problem, answer.share), answer.value, 1e-12 * answer.value);
    const double best = LevelOf(problem, internal::LevelByGeneralLp(problem).share);
    EXPECT_NEAR(answer.value, best, kBlockTolerance * best);
    general += answer.general && instance.types <= 8 ? 1 : 0;
  }
  EXPECT_EQ(general, 0) << "problems that the interior point method did not solve";
}

TEST(BlockProblemTest, GainsUnderNeedsAreThoseOfClp) {
  for (const BlockCase& instance : BlockCases()) {
    SCOPED_TRACE(instance.text());
    const ShareProblem shares = instance.shares();
    BlockProblem problem = LevelBlocks(shares);
    const double level = MaximiseLevel(problem).value;
    const double part = instance.seed == 0 ? 1 : 0.5;  // 1: all needs are just met
    for (BlockProblem::Block& block : problem.blocks) {
      block.need = block.slope * level * part;
      block.slope = 0;
    }
    problem.gain = shares.rate;
    const BlockAnswer answer = MaximiseGain(problem);
    ASSERT_TRUE(answer.feasible);
    EXPECT_EQ(BrokenBy(shares, answer.share), "");
    for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
      EXPECT_GE(answer.slack[i], -kBlockTolerance * problem.blocks[i].need) << "block " << i;
    }
    const BlockAnswer clp = internal::GainByGeneralLp(problem);
    if (!clp.feasible) continue;  // by its own rounding, where all needs are just met
    double best = 0;
    for (std::size_t v = 0; v < clp.share.size(); ++v) best += problem.gain[v] * clp.share[v];
    EXPECT_NEAR(answer.value, best, 3 * kBlockTolerance * best);
  }
}

TEST(BlockProblemTest, NeedsThatCannotHoldTogetherAreSaid) {
  for (const BlockCase& instance : BlockCases()) {
    SCOPED_TRACE(instance.text());
    BlockProblem problem = LevelBlocks(instance.shares());
    const double level = MaximiseLevel(problem).value;
    for (BlockProblem::Block& block : problem.blocks) {
      block.need = block.slope * level * 1.25;
      block.slope = 0;
    }
    const BlockAnswer answer = MaximiseGain(problem);
    EXPECT_FALSE(answer.feasible);
    EXPECT_NEAR(answer.value, 0.8, 1e-7);
    EXPECT_FALSE(internal::GainByGeneralLp(problem).feasible);
  }
}

// A ratio is the least where what it asks can just be had.
TEST(BlockProblemTest, WorstFinishesAreThoseOfClp) {
  for (const BlockCase& instance : BlockCases()) {
    SCOPED_TRACE(instance.text());
    const ShareProblem shares = instance.shares();
    BlockProblem problem = LevelBlocks(shares);
    Rng rng(instance.seed, "finish");
    std::vector<FinishGoal> goals;
    const std::vector<double> isolated = RatesOf(shares, EvenShares(shares).of);
    for (std::size_t i = 0; i < shares.jobs(); ++i) {
      const double work = std::pow(10, rng.Uniform(0, 4));
      const double alone = work / isolated[i] * rng.Uniform();
      goals.push_back({work, alone * rng.Uniform(0.7, 1.3), alone + work / isolated[i]});
    }
    const BlockAnswer answer = MinimiseWorstFinish(problem, goals);
    EXPECT_EQ(BrokenBy(shares, answer.share), "");
    // The largest part of what a ratio asks that all can have; 0 where time has already passed it.
    const auto part_at = [&](double ratio) {
      for (std::size_t i = 0; i < goals.size(); ++i) {
        const double left = ratio * goals[i].due - goals[i].elapsed;
        if (!(left > 0)) return 0.0;
        problem.blocks[i].slope = goals[i].work / left;
      }
      return LevelOf(problem, internal::LevelByGeneralLp(problem).share);
    };
    EXPECT_LT(part_at(answer.value * (1 - 1e-7)), 1) << "a smaller ratio can be had";
    EXPECT_GT(part_at(answer.value), 1 - 1e-8);
  }
}

TEST(BlockProblemTest, OneJobOnItsBestType) {
  BlockProblem problem;
  problem.capacity = {4, 4};
  problem.blocks = {{1, 0, 2}};
  problem.rate = {3, 5};
  const BlockAnswer answer = MaximiseLevel(problem);
  EXPECT_NEAR(answer.value, 2.5, 1e-9);
  EXPECT_NEAR(answer.share[1], 1, 1e-8);
}

TEST(BlockProblemTest, AJobIsNotPutWhereItDoesNotRun) {
  BlockProblem problem;
  problem.capacity = {4, 0, 1};
  problem.blocks = {{1, 0, 1}, {1, 0, 1}};
  problem.rate = {0, 7, 2, 1, 9, 2};  // nobody has type 1
  const BlockAnswer answer = MaximiseLevel(problem);
  EXPECT_EQ(answer.share[0], 0);
  EXPECT_EQ(answer.share[1], 0);
  EXPECT_EQ(answer.share[4], 0);
  // 2 x = y + 2 (1 - x) where x is the first job's part of type 2, y = x the other's of type 0.
  EXPECT_NEAR(answer.value, 4.0 / 3, 1e-8);
}

TEST(BlockProblemTest, RefusesNumbersThatMakeNoSense) {
  const BlockProblem good = LevelBlocks(RandomShares(3, 2, 1, false));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [&](const std::vector<std::string>& parts, auto change) {
    BlockProblem bad = good;
    change(&bad);
    ExpectError(ExitCode::kBadData, parts, [&] { MaximiseLevel(bad); });
  };
  refused({"'rate'", ">= 0", "-1", "block 1, type 0"}, [](auto* p) { p->rate[2] = -1; });
  refused({"'rate'", "nan"}, [&](auto* p) { p->rate[0] = nan; });
  refused({"'capacity'", "inf", "type 1"}, [](auto* p) { p->capacity[1] = INFINITY; });
  refused({"'use'", "> 0", "block 2"}, [](auto* p) { p->blocks[2].use = 0; });
  refused({"'need'", "-2", "block 0"}, [](auto* p) { p->blocks[0].need = -2; });
  refused({"on a type with capacity", "block 1"}, [](auto* p) { p->rate[2] = p->rate[3] = 0; });
  refused({"'slope'", "unbounded"}, [](auto* p) {
    for (auto& block : p->blocks) block.slope = 0;
  });
}

}  // namespace
}  // namespace allot
