#pragma once
// Random problems of shares for tests: jobs of 1 to 8 GPUs, rates over two decades, types on which
// some jobs do not run; or degenerate ones: few different rates, equal jobs, equal types.

#include <algorithm>
#include <cmath>
#include <string>

#include "core/rng.h"
#include "solve/block_problem.h"
#include "solve/share_problem.h"

namespace allot::testing_support {

inline ShareProblem RandomShares(int jobs, int types, std::uint64_t seed, bool degenerate) {
  Rng rng(seed, "random-shares");
  ShareProblem problem;
  for (int g = 0; g < types; ++g) {
    problem.capacity.push_back(std::max(1.0, std::round(jobs * rng.Uniform(0.1, 0.5))));
  }
  constexpr double kSizes[] = {1, 1, 1, 1, 2, 4, 8};
  for (int i = 0; i < jobs; ++i) {
    std::vector<double> rates;
    for (int g = 0; g < types; ++g) {
      double rate = degenerate ? (rng.Below(3) > 0 ? 1 : 2) : std::pow(10, rng.Uniform(-1, 1));
      if (rng.Below(8) == 0) rate = 0;
      rates.push_back(rate);
    }
    rates[rng.Below(static_cast<std::uint64_t>(types))] = degenerate ? 1 : 3;
    const double gpus = degenerate ? 1 : kSizes[rng.Below(7)];
    problem.Add(gpus, rng.Below(4) == 0 ? 5 : 1, rates);
  }
  return problem;
}

// The max-min problem of these jobs, one block each.
inline BlockProblem LevelBlocks(const ShareProblem& shares) {
  BlockProblem problem;
  problem.capacity = shares.capacity;
  problem.rate = shares.rate;
  const std::vector<double> even = EvenRates(shares);
  for (std::size_t i = 0; i < shares.jobs(); ++i) {
    problem.blocks.push_back({shares.gpus[i], 0, shares.weight[i] * even[i] / shares.gpus[i]});
  }
  return problem;
}

// "" or the first constraint that these shares break by more than rounding.
inline std::string BrokenBy(const ShareProblem& problem, const std::vector<double>& shares) {
  std::vector<double> used(problem.types(), 0.0);
  if (shares.size() != problem.rate.size()) return "the number of shares";
  for (std::size_t i = 0; i < problem.jobs(); ++i) {
    double time = 0;
    for (std::size_t g = 0; g < problem.types(); ++g) {
      const double x = shares[i * problem.types() + g];
      if (!(x >= 0)) return fmt::format("job {} has share {} of type {}", i, x, g);
      time += x;
      used[g] += x * problem.gpus[i];
    }
    if (time > 1 + 1e-12) return fmt::format("job {} has {} of its time", i, time);
  }
  for (std::size_t g = 0; g < problem.types(); ++g) {
    if (used[g] > problem.capacity[g] * (1 + 1e-12)) {
      return fmt::format("type {} gives {} of {} GPUs", g, used[g], problem.capacity[g]);
    }
  }
  return "";
}

}  // namespace allot::testing_support
