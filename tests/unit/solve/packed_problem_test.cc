// Shares with pairs, against the program of all pairs of jobs written out.

#include "solve/packed_problem.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/index.h"
#include "core/rng.h"
#include "solve/general_lp.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

PackedProblem RandomPacked(int jobs, int kinds, std::uint64_t seed) {
  Rng rng(seed, "packed");
  PackedProblem problem;
  const std::size_t types = 1 + rng.Below(3);
  for (std::size_t g = 0; g < types; ++g) {
    problem.alone.capacity.push_back(std::ceil(rng.Uniform(0, jobs / 3.0)));
  }
  problem.kinds = static_cast<std::size_t>(kinds);
  std::vector<std::vector<double>> rates(problem.kinds);
  std::vector<double> gpus;
  for (auto& row : rates) {
    gpus.push_back(rng.Below(4) == 0 ? 2 : 1);
    for (std::size_t g = 0; g < types; ++g) row.push_back(rng.Uniform(0.5, 5));
  }
  problem.beside.assign(problem.kinds * problem.kinds * types, 0.0);
  for (std::size_t a = 0; a < problem.kinds; ++a) {
    for (std::size_t b = 0; b < problem.kinds; ++b) {
      if (gpus[a] != gpus[b]) continue;
      for (std::size_t g = 0; g < types; ++g) {
        const double part = (a + b + g) % 5 == 0 ? 0 : rng.Uniform(0.3, 0.95);
        problem.beside[(a * problem.kinds + b) * types + g] = rates[a][g] * part;
      }
    }
  }
  for (int i = 0; i < jobs; ++i) {
    const auto kind = rng.Below(problem.kinds);
    problem.kind.push_back(static_cast<std::int32_t>(kind));
    problem.alone.Add(gpus[kind], 1, rates[kind]);
  }
  return problem;
}

// The best value of the program with every pair of jobs: of a level where `slope` is given, else
// of the sum of rates, such that theta >= need.
double BestOfAllPairs(const PackedProblem& problem, const std::vector<double>& slope,
                      const std::vector<double>& need) {
  const ShareProblem& alone = problem.alone;
  const std::size_t types = alone.types();
  const std::size_t jobs = alone.jobs();
  GeneralLp lp;
  for (const double capacity : alone.capacity) lp.AddRow(-GeneralLp::kInfinite, capacity);
  for (std::size_t i = 0; i < jobs; ++i) lp.AddRow(-GeneralLp::kInfinite, 1);
  for (std::size_t i = 0; i < jobs; ++i) {
    lp.AddRow(need.empty() ? 0 : need[i], GeneralLp::kInfinite);
  }
  std::vector<LpEntry> level;
  for (std::size_t i = 0; i < slope.size(); ++i) level.push_back({types + jobs + i, -slope[i]});
  if (!slope.empty()) lp.AddColumn(1, level);
  const double worth = slope.empty() ? 1 : 0;
  for (std::size_t i = 0; i < jobs; ++i) {
    for (std::size_t g = 0; g < types; ++g) {
      const double rate = alone.rates(i)[g];
      const LpEntry single[] = {{g, alone.gpus[i]}, {types + i, 1}, {types + jobs + i, rate}};
      lp.AddColumn(worth * rate, single);
      for (std::size_t k = 0; k < i; ++k) {
        const double of_i = problem.rate_beside(problem.kind[i], problem.kind[k], g);
        const double of_k = problem.rate_beside(problem.kind[k], problem.kind[i], g);
        if (!(of_i > 0) || !(of_k > 0)) continue;
        const LpEntry pair[] = {{g, alone.gpus[i]},
                                {types + i, 1},
                                {types + k, 1},
                                {types + jobs + i, of_i},
                                {types + jobs + k, of_k}};
        lp.AddColumn(worth * (of_i + of_k), pair);
      }
    }
  }
  EXPECT_EQ(lp.Solve(), LpOutcome::kOptimal);
  return lp.value();
}

void ExpectWithinLimits(const PackedProblem& problem, const PackedShares& shares) {
  const ShareProblem& alone = problem.alone;
  std::vector<double> time(alone.jobs(), 0.0);
  std::vector<double> used(alone.types(), 0.0);
  for (std::size_t v = 0; v < shares.of.size(); ++v) {
    EXPECT_GE(shares.of[v], 0);
    time[v / alone.types()] += shares.of[v];
    used[v % alone.types()] += shares.of[v] * alone.gpus[v / alone.types()];
  }
  for (const PairShare& pair : shares.pairs) {
    EXPECT_LT(pair.first, pair.second);
    EXPECT_EQ(alone.gpus[At(pair.first)], alone.gpus[At(pair.second)]);
    time[At(pair.first)] += pair.share;
    time[At(pair.second)] += pair.share;
    used[pair.type] += pair.share * alone.gpus[At(pair.first)];
  }
  for (const double t : time) EXPECT_LE(t, 1 + 1e-9);
  for (std::size_t g = 0; g < used.size(); ++g) EXPECT_LE(used[g], alone.capacity[g] + 1e-9);
}

std::vector<double> FairSlopes(const PackedProblem& problem) {
  std::vector<double> slope = EvenRates(problem.alone);
  for (std::size_t i = 0; i < slope.size(); ++i) slope[i] /= problem.alone.gpus[i];
  return slope;
}

TEST(PackedProblemTest, ClassesAndGeneratedColumnsReachTheBestLevel) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const PackedProblem problem = RandomPacked(12, 4, seed);
    const PackedShares shares = MaxMinPacked(problem);
    ExpectWithinLimits(problem, shares);
    const double best = BestOfAllPairs(problem, FairSlopes(problem), {});
    EXPECT_NEAR(shares.objective, best, 1e-8 * best);
    const std::vector<double> theta = RatesOf(problem, shares);
    for (std::size_t i = 0; i < theta.size(); ++i) {
      EXPECT_GE(theta[i], FairSlopes(problem)[i] * best * (1 - 1e-8)) << "job " << i;
    }
  }
}

TEST(PackedProblemTest, WaterFillingBeginsAtTheBestLevelAndOnlyRises) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const PackedProblem problem = RandomPacked(9, 3, seed);
    std::vector<double> levels;
    const PackedShares shares = WaterFillingPacked(problem, &levels);
    ExpectWithinLimits(problem, shares);
    const double best = MaxMinPacked(problem).objective;
    EXPECT_NEAR(shares.objective, best, 1e-7 * best);
    const std::vector<double> theta = RatesOf(problem, shares);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      EXPECT_GE(theta[i] / FairSlopes(problem)[i], levels[i] * (1 - 1e-6)) << "job " << i;
    }
  }
}

TEST(PackedProblemTest, ShortestTimesAreThoseOfAllPairs) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const PackedProblem problem = RandomPacked(9, 3, seed);
    std::vector<double> work(9);
    Rng rng(seed, "work");
    for (double& w : work) w = rng.Uniform(1, 9);
    const PackedShares shares = MakespanPacked(problem, work);
    ExpectWithinLimits(problem, shares);
    EXPECT_NEAR(shares.objective * BestOfAllPairs(problem, work, {}), 1, 1e-8);
  }
}

TEST(PackedProblemTest, SumsUnderNeedsAreThoseOfAllPairs) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const PackedProblem problem = RandomPacked(9, 3, seed);
    const std::vector<double> worth(9, 1.0);
    std::vector<double> need = FairSlopes(problem);
    const double level = MaxMinPacked(problem).objective;
    for (double& n : need) n *= level * 0.7;
    const PackedShares shares = MaxSumPacked(problem, worth, need);
    ASSERT_TRUE(shares.feasible);
    ExpectWithinLimits(problem, shares);
    const double best = BestOfAllPairs(problem, {}, need);
    EXPECT_NEAR(shares.objective, best, 1e-7 * best);
    for (double& n : need) n *= 2;
    EXPECT_FALSE(MaxSumPacked(problem, worth, need).feasible);
  }
}

TEST(PackedProblemTest, AFairFinishCannotBeBettered) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const PackedProblem problem = RandomPacked(8, 3, seed);
    Rng rng(seed, "finish");
    std::vector<double> work;
    std::vector<double> elapsed;
    std::vector<double> alone;
    for (int i = 0; i < 8; ++i) {
      work.push_back(rng.Uniform(1, 9));
      elapsed.push_back(rng.Uniform(0, 4));
      alone.push_back(rng.Uniform(0, 4));
    }
    const PackedShares shares = FinishTimePacked(problem, work, elapsed, alone);
    ExpectWithinLimits(problem, shares);
    const std::vector<double> isolated = RatesOf(problem.alone, EvenShares(problem.alone).of);
    std::vector<double> slope;
    for (std::size_t i = 0; i < 8; ++i) {
      const double due = alone[i] + work[i] / isolated[i];
      slope.push_back(work[i] / (shares.objective * due - elapsed[i]));
    }
    EXPECT_NEAR(BestOfAllPairs(problem, slope, {}), 1, 1e-7);
  }
}

// What a fair finish is asked of: lengths, and jobs that are early or late, over decades.
struct FinishGoals {
  std::vector<double> work;
  std::vector<double> elapsed;
  std::vector<double> alone;
};

// `spread`: how many decades rates spread over.
FinishGoals Stretch(PackedProblem* problem, double spread, std::uint64_t seed) {
  Rng rng(seed, "decades");
  const auto decades = [&rng](double half) { return std::pow(10, rng.Uniform(-half, half)); };
  const std::size_t types = problem->alone.types();
  for (double& rate : problem->beside) rate *= decades(spread / 2);
  std::vector<double> of_kind;
  for (std::size_t k = 0; k < problem->kinds * types; ++k) of_kind.push_back(decades(spread / 2));
  FinishGoals goals;
  for (std::size_t i = 0; i < problem->alone.jobs(); ++i) {
    for (std::size_t g = 0; g < types; ++g) {
      problem->alone.rate[i * types + g] *= of_kind[At(problem->kind[i]) * types + g];
    }
    goals.work.push_back(decades(spread / 2));
    goals.elapsed.push_back(rng.Below(4) == 0 ? 0 : decades(spread / 2));
    goals.alone.push_back(goals.elapsed.back() * rng.Uniform(0.3, 1.5));
  }
  return goals;
}

// Never worse than without pairs, over more decades than floating point can keep apart.
TEST(PackedProblemTest, AFairFinishIsFoundWhateverTheNumbers) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const double spread = seed % 5 == 0 ? 12 : 8;
    PackedProblem problem = RandomPacked(4 + static_cast<int>(seed % 29), 4, seed);
    const FinishGoals goals = Stretch(&problem, spread, seed);
    const PackedShares shares = FinishTimePacked(problem, goals.work, goals.elapsed, goals.alone);
    ExpectWithinLimits(problem, shares);
    const Shares alone = FinishTimeShares(problem.alone, goals.work, goals.elapsed, goals.alone);
    EXPECT_LE(shares.objective, alone.objective * (1 + 1e-9));
    EXPECT_TRUE(std::isfinite(shares.objective));
  }
}

// Equal jobs, a type without GPUs, one on which nobody runs together: many optima, one value.
TEST(PackedProblemTest, DegenerateProblemsHaveTheirValue) {
  PackedProblem problem;
  problem.alone.capacity = {2, 0, 1};
  problem.kinds = 1;
  problem.beside = {0.75, 0.75, 0};
  for (int i = 0; i < 5; ++i) {
    problem.alone.Add(1, 1, std::vector<double>{1, 9, 1});
    problem.kind.push_back(0);
  }
  const std::vector<double> work(5, 12.0);
  const std::vector<double> none(5, 0.0);
  // In pairs on two GPUs, 1.5 each, and 1 alone on the third: 4 of 5 jobs at a time.
  EXPECT_NEAR(MakespanPacked(problem, work).objective, 12 * 5 / 4.0, 1e-7);
  // An even division gives 3/5 of a GPU; 4/5 of the work of one GPU are done.
  EXPECT_NEAR(FinishTimePacked(problem, work, none, none).objective, 0.75, 1e-7);
}

// Two GPUs for four jobs of one kind: half of all time each alone, or all of it in pairs at 0.8.
TEST(PackedProblemTest, PairsOfEqualJobsKeepTogether) {
  PackedProblem problem;
  problem.alone.capacity = {2};
  problem.kinds = 1;
  problem.beside = {0.8};
  for (int i = 0; i < 4; ++i) {
    problem.alone.Add(1, 1, std::vector<double>{1});
    problem.kind.push_back(0);
  }
  const PackedShares shares = MaxMinPacked(problem);
  ASSERT_EQ(shares.pairs.size(), 2U);
  EXPECT_NEAR(shares.pairs[0].share, 1, 1e-9);
  EXPECT_EQ(shares.pairs[1].first, 2);
  EXPECT_NEAR(shares.objective, 0.8, 1e-9);
}

TEST(PackedProblemTest, WhoComesLateJoinsWhereBothGetMostDone) {
  PackedProblem problem;
  problem.alone.capacity = {2};
  problem.kinds = 3;
  problem.beside = {0, 0, .9, 0, 0, .8, .9, .9, .9};
  for (const std::int32_t kind : {0, 1, 2, 2}) {
    problem.alone.Add(1, 1, std::vector<double>{1});
    problem.kind.push_back(kind);
  }
  const PackedShares shares = FirstComePacked(problem, 1.75);
  ASSERT_EQ(shares.pairs.size(), 1U);  // 1.8 with the first; 1.7 with the second is too little
  EXPECT_EQ(shares.pairs[0].first, 0);
  EXPECT_EQ(shares.pairs[0].second, 2);
  EXPECT_EQ(shares.of, (std::vector<double>{0, 1, 0, 0}));
}

TEST(PackedProblemTest, RefusesNegativeRates) {
  PackedProblem problem = RandomPacked(3, 2, 1);
  problem.beside[0] = -1;
  ExpectError(ExitCode::kBadData, {"beside", ">= 0", "-1"}, [&] { MaxMinPacked(problem); });
}

}  // namespace
}  // namespace allot
