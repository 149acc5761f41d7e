// Gavel's problems on small instances of our own, and on random ones by what must hold of them.

#include "solve/share_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "solve/block_general.h"
#include "solve/water_filling.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/solve/random_problem.h"

namespace allot {
namespace {

using testing_support::BrokenBy;
using testing_support::LevelBlocks;
using testing_support::RandomShares;

// The table of the paper's section 3.1: one GPU of each type, rates 4 1, 3 1, 2 1.
ShareProblem ThreeJobs() {
  ShareProblem problem;
  problem.capacity = {1, 1};
  problem.Add(1, 1, std::vector<double>{4, 1});
  problem.Add(1, 1, std::vector<double>{3, 1});
  problem.Add(1, 1, std::vector<double>{2, 1});
  return problem;
}

TEST(ShareProblemTest, EqualJobsAreOneBlockAndGetEqualShares) {
  ShareProblem problem = RandomShares(12, 3, 4, false);
  const double alone = MaxMinShares(problem).objective;
  ShareProblem twice = problem;
  for (std::size_t i = 0; i < problem.jobs(); ++i) {
    twice.Add(problem.gpus[i], problem.weight[i], problem.rates(i));
  }
  for (double& capacity : twice.capacity) capacity *= 2;
  const Shares shares = MaxMinShares(twice);
  EXPECT_NEAR(shares.objective, alone, 1e-8 * alone);
  EXPECT_TRUE(std::equal(shares.of.begin(), shares.of.begin() + 36, shares.of.begin() + 36));
}

TEST(ShareProblemTest, TwiceTheWeightIsTwiceTheTime) {
  ShareProblem problem;
  problem.capacity = {1};
  problem.Add(1, 1, std::vector<double>{5});
  problem.Add(1, 2, std::vector<double>{7});
  const Shares shares = MaxMinShares(problem);
  EXPECT_NEAR(shares.of[0], 1.0 / 3, 1e-8);
  EXPECT_NEAR(shares.of[1], 2.0 / 3, 1e-8);
}

TEST(ShareProblemTest, WaterFillingRaisesWhoCanRise) {
  ShareProblem problem;  // the second job has a type of its own
  problem.capacity = {1, 1};
  problem.Add(1, 1, std::vector<double>{1, 0});
  problem.Add(1, 1, std::vector<double>{1, 0});
  problem.Add(1, 1, std::vector<double>{0, 1});
  std::vector<double> levels;
  const Shares shares = WaterFillingShares(problem, &levels);
  EXPECT_NEAR(shares.objective, 1, 1e-8);  // half of what an even division gives, twice
  EXPECT_NEAR(levels[2], 2, 1e-8);
  EXPECT_NEAR(shares.of[5], 1, 1e-8);
}

// Nobody's level can rise while all others keep theirs.
TEST(ShareProblemTest, WaterFillingLeavesNothingToRaise) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const ShareProblem problem = RandomShares(9, 1 + static_cast<int>(seed % 4), seed, seed % 2);
    std::vector<double> levels;
    const Shares shares = WaterFillingShares(problem, &levels);
    EXPECT_EQ(BrokenBy(problem, shares.of), "");
    BlockProblem blocks = LevelBlocks(problem);
    const std::vector<double> theta = RatesOf(problem, shares.of);
    for (std::size_t i = 0; i < problem.jobs(); ++i) {
      EXPECT_GE(theta[i], levels[i] * blocks.blocks[i].slope * (1 - 1e-7)) << "job " << i;
      blocks.blocks[i].need = theta[i] * (1 - 1e-7);
    }
    for (auto& block : blocks.blocks) block.slope = 0;
    for (std::size_t i = 0; i < problem.jobs(); ++i) {
      BlockProblem raise = blocks;
      raise.gain.assign(problem.rate.size(), 0.0);
      for (std::size_t g = 0; g < problem.types(); ++g) {
        raise.gain[i * problem.types() + g] = problem.rates(i)[g];
      }
      // Equal jobs rise together: one of them alone may.
      const auto equal = [&](std::size_t k) {
        return std::ranges::equal(problem.rates(i), problem.rates(k)) &&
               problem.gpus[i] == problem.gpus[k] && problem.weight[i] == problem.weight[k];
      };
      std::size_t alike = 0;
      for (std::size_t k = 0; k < problem.jobs(); ++k) alike += equal(k) ? 1 : 0;
      if (alike > 1) continue;
      const BlockAnswer most = internal::GainByGeneralLp(raise);
      ASSERT_TRUE(most.feasible);
      EXPECT_LT(internal::RatesUnder(raise, most.share)[i], theta[i] * (1 + 1e-4)) << "job " << i;
    }
  }
}

// Rates and weights over many decades: rounding may make final levels impossible together.
TEST(ShareProblemTest, WaterFillingEndsWhateverTheNumbers) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    ShareProblem problem = RandomShares(20, 4, seed, false);
    Rng rng(seed, "decades");
    for (double& rate : problem.rate) rate *= std::pow(10, rng.Uniform(-4, 4));
    for (double& weight : problem.weight) weight *= std::pow(10, rng.Uniform(-2, 2));
    std::vector<double> levels;
    EXPECT_EQ(BrokenBy(problem, WaterFillingShares(problem, &levels).of), "");
    EXPECT_EQ(levels.size(), problem.jobs());
  }
}

TEST(ShareProblemTest, EntitiesDivideByWeightAndThenTheirJobs) {
  ShareProblem problem;
  problem.capacity = {1};
  for (int i = 0; i < 4; ++i) problem.Add(1, 1 + i % 2, std::vector<double>{1});
  const ShareEntity entities[] = {{1, false}, {3, true}};
  const std::int32_t of[] = {0, 0, 1, 1};
  const Shares shares = HierarchicalShares(problem, entities, of);
  // A quarter by weights 1 and 2; three quarters to the first of the others.
  const double expected[] = {0.25 / 3, 0.5 / 3, 0.75, 0};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(shares.of[i], expected[i], 1e-7) << "job " << i;
}

TEST(ShareProblemTest, AFirstComeEntityGivesTheRestToTheNextJob) {
  ShareProblem problem;
  problem.capacity = {3};
  for (int i = 0; i < 3; ++i) problem.Add(i == 1 ? 2 : 1, 1, std::vector<double>{1});
  const ShareEntity entities[] = {{1, true}};
  const std::int32_t of[] = {0, 0, 0};
  const Shares shares = HierarchicalShares(problem, entities, of);
  const double expected[] = {1, 1, 0};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(shares.of[i], expected[i], 1e-6) << "job " << i;
}

TEST(ShareProblemTest, TheLargestSumGoesToTheFastest) {
  const ShareProblem problem = ThreeJobs();
  const Shares shares = MaxSumShares(problem, problem.rate);
  EXPECT_NEAR(shares.objective, 5, 1e-8);
  EXPECT_NEAR(shares.of[0], 1, 1e-7);
}

TEST(ShareProblemTest, TheLargestSumKeepsNeedsOrSaysWhatPartOfThemHolds) {
  const ShareProblem problem = ThreeJobs();
  const std::vector<double> half = {0, 0, 1};
  const Shares shares = MaxSumShares(problem, problem.rate, half);
  EXPECT_GE(RatesOf(problem, shares.of)[2], 1 - 1e-8);
  const std::vector<double> two = {0, 0, 4};
  const Shares none = MaxSumShares(problem, problem.rate, two);
  EXPECT_FALSE(none.feasible);
  EXPECT_NEAR(none.objective, 0.5, 1e-7);
}

TEST(ShareProblemTest, TheShortestTimeIsWhatTheGpusCanDo) {
  ShareProblem problem;
  problem.capacity = {2};
  for (int i = 0; i < 3; ++i) problem.Add(1, 1, std::vector<double>{2});
  const std::vector<double> work = {100, 100, 600};
  // The long job alone takes 300 s; all together take 200.
  EXPECT_NEAR(MakespanShares(problem, work).objective, 300, 1e-6);
  EXPECT_TRUE(SharesWithin(problem, work, 310).feasible);
  EXPECT_FALSE(SharesWithin(problem, work, 290).feasible);
  const std::vector<double> even = {400, 400, 400};
  EXPECT_NEAR(MakespanShares(problem, even).objective, 300, 1e-6);
}

TEST(ShareProblemTest, TheBisectionIsAtMostATwentiethAbove) {
  for (const double shortest : {50.0, 101.0, 5e4, 5e5, 9.99e5, 3e6}) {
    const double found = BisectedMakespan(shortest);
    EXPECT_GE(found, shortest);
    EXPECT_LE(found, 1.06 * std::max(shortest, 100.0));
  }
}

TEST(ShareProblemTest, AFairFinishIsAsGoodAsADivisionOfTheCluster) {
  ShareProblem problem = ThreeJobs();
  const std::vector<double> work = {100, 50, 10};
  const std::vector<double> none = {0, 0, 0};
  const Shares shares = FinishTimeShares(problem, work, none, none);
  EXPECT_LE(shares.objective, 1);
  const std::vector<double> isolated = RatesOf(problem, EvenShares(problem).of);
  const std::vector<double> theta = RatesOf(problem, shares.of);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GE(theta[i] * shares.objective, isolated[i] * (1 - 1e-8)) << "job " << i;
  }
}

TEST(ShareProblemTest, AnEvenDivisionIsWithinTimeAndGpus) {
  const ShareProblem problem = RandomShares(5, 3, 2, false);
  EXPECT_EQ(BrokenBy(problem, EvenShares(problem).of), "");
}

TEST(ShareProblemTest, TheFirstThatFindsNoTypeEndsTheQueue) {
  ShareProblem problem;
  problem.capacity = {2, 3};
  problem.Add(2, 1, std::vector<double>{1, 5});
  problem.Add(2, 1, std::vector<double>{2, 9});  // type 1 has one GPU left
  problem.Add(4, 1, std::vector<double>{1, 1});
  problem.Add(1, 1, std::vector<double>{1, 1});
  const Shares shares = FirstComeShares(problem);
  EXPECT_EQ(shares.of, (std::vector<double>{0, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(shares.objective, 2);
}

TEST(ShareProblemTest, WhoDoesNotRunOnTheTypesLeftIsPassedOver) {
  ShareProblem problem;
  problem.capacity = {2, 1};
  problem.Add(1, 1, std::vector<double>{1, 5});
  problem.Add(1, 1, std::vector<double>{0, 5});  // GPUs are left, of a type on which it has no rate
  problem.Add(1, 1, std::vector<double>{2, 9});
  const Shares shares = FirstComeShares(problem);
  EXPECT_EQ(shares.of, (std::vector<double>{0, 1, 0, 0, 1, 0}));
}

TEST(ShareProblemTest, RefusesNumbersThatMakeNoSense) {
  const auto refused = [](const std::vector<std::string>& parts, auto change) {
    ShareProblem bad = ThreeJobs();
    change(&bad);
    ExpectError(ExitCode::kBadData, parts, [&] { MaxMinShares(bad); });
  };
  refused({"rate", ">= 0", "-3", "job 1, type 0"}, [](auto* p) { p->rate[2] = -3; });
  refused({"weight", "> 0", "got 0", "job 2"}, [](auto* p) { p->weight[2] = 0; });
  refused({"GPUs", "> 0", "job 0"}, [](auto* p) { p->gpus[0] = 0; });
  refused({"fit a type", "job 1"}, [](auto* p) { p->rate[2] = p->rate[3] = 0; });
  refused({"capacity", "-1", "type 1"}, [](auto* p) { p->capacity[1] = -1; });
  const ShareProblem good = ThreeJobs();
  const std::vector<double> work = {1, 0, 2};
  ExpectError(ExitCode::kBadData, {"work", "> 0", "got 0", "job 1"},
              [&] { MakespanShares(good, work); });
  const ShareEntity entities[] = {{0, false}};
  const std::int32_t of[] = {0, 0, 0};
  ExpectError(ExitCode::kBadData, {"entity", "> 0", "got 0"},
              [&] { HierarchicalShares(good, entities, of); });
}

}  // namespace
}  // namespace allot
