// Checks, closed forms, and the problems that take one solve.

#include "solve/share_problem.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/error.h"
#include "solve/equal_jobs.h"

namespace allot {
namespace {

using internal::BlocksOf;
using internal::EqualJobs;
using internal::FindEqualJobs;
using internal::SharesOfJobs;

void CheckWork(std::span<const double> work, std::size_t jobs) {
  ALLOT_CHECK_EQ(work.size(), jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    if (std::isfinite(work[i]) && work[i] > 0) continue;
    throw DataError("work left must be finite and > 0, got {} (job {})", work[i], i);
  }
}

}  // namespace

void CheckShareProblem(const ShareProblem& problem) {
  const std::size_t types = problem.types();
  ALLOT_CHECK_EQ(problem.weight.size(), problem.jobs());
  ALLOT_CHECK_EQ(problem.rate.size(), problem.jobs() * types);
  for (std::size_t g = 0; g < types; ++g) {
    if (std::isfinite(problem.capacity[g]) && problem.capacity[g] >= 0) continue;
    throw DataError("a capacity must be finite and >= 0, got {} (type {})", problem.capacity[g], g);
  }
  for (std::size_t i = 0; i < problem.jobs(); ++i) {
    if (!std::isfinite(problem.gpus[i]) || !(problem.gpus[i] > 0)) {
      throw DataError("a job's GPUs must be finite and > 0, got {} (job {})", problem.gpus[i], i);
    }
    if (!std::isfinite(problem.weight[i]) || !(problem.weight[i] > 0)) {
      throw DataError("a weight must be finite and > 0, got {} (job {})", problem.weight[i], i);
    }
    bool runs = false;
    for (std::size_t g = 0; g < types; ++g) {
      const double rate = problem.rate[i * types + g];
      if (!std::isfinite(rate) || rate < 0) {
        throw DataError("a rate must be finite and >= 0, got {} (job {}, type {})", rate, i, g);
      }
      runs = runs || (rate > 0 && problem.capacity[g] > 0);
    }
    if (!runs) {
      throw DataError("a job must fit a type, got a rate > 0 on none of {} with GPUs (job {})",
                      types, i);
    }
  }
}

std::vector<double> EvenRates(const ShareProblem& problem) {
  const std::size_t types = problem.types();
  double all = 0;
  for (const double capacity : problem.capacity) all += capacity;
  std::vector<double> even(problem.jobs(), 0.0);
  for (std::size_t i = 0; i < even.size(); ++i) {
    for (std::size_t g = 0; g < types; ++g) {
      even[i] += problem.rate[i * types + g] * problem.capacity[g] / all;
    }
  }
  return even;
}

std::vector<double> RatesOf(const ShareProblem& problem, std::span<const double> shares) {
  std::vector<double> theta(problem.jobs(), 0.0);
  for (std::size_t v = 0; v < shares.size(); ++v) {
    theta[v / problem.types()] += problem.rate[v] * shares[v];
  }
  return theta;
}

Shares MaxMinShares(const ShareProblem& problem) {
  CheckShareProblem(problem);
  if (problem.jobs() == 0) return {};
  const EqualJobs equal = FindEqualJobs(problem);
  BlockProblem blocks = BlocksOf(problem, equal);
  const std::vector<double> even = EvenRates(problem);
  for (std::size_t c = 0; c < equal.classes(); ++c) {
    const std::size_t job = equal.first[c];
    blocks.blocks[c].slope = problem.weight[job] * even[job] / problem.gpus[job];
  }
  const BlockAnswer answer = MaximiseLevel(blocks);
  return {true, SharesOfJobs(equal, answer.share, problem.types()), answer.value};
}

Shares MaxSumShares(const ShareProblem& problem, std::span<const double> gain,
                    std::span<const double> need) {
  CheckShareProblem(problem);
  const std::size_t jobs = problem.jobs();
  const std::size_t types = problem.types();
  ALLOT_CHECK_EQ(gain.size(), jobs * types);
  ALLOT_CHECK(need.empty() || need.size() == jobs);
  if (jobs == 0) return {};
  std::vector<double> further;
  further.reserve(jobs * (types + 1));
  for (std::size_t i = 0; i < jobs; ++i) {
    further.insert(further.end(), gain.begin() + static_cast<std::ptrdiff_t>(i * types),
                   gain.begin() + static_cast<std::ptrdiff_t>((i + 1) * types));
    further.push_back(need.empty() ? 0 : need[i]);
  }
  const EqualJobs equal = FindEqualJobs(problem, further);
  BlockProblem blocks = BlocksOf(problem, equal);
  blocks.gain.reserve(equal.classes() * types);
  for (std::size_t c = 0; c < equal.classes(); ++c) {
    const std::size_t job = equal.first[c];
    blocks.blocks[c].need = need.empty() ? 0 : need[job];
    for (std::size_t g = 0; g < types; ++g) {
      blocks.gain.push_back(equal.count[c] * gain[job * types + g]);
    }
  }
  const BlockAnswer answer = MaximiseGain(blocks);
  if (!answer.feasible) return {false, {}, answer.value};
  return {true, SharesOfJobs(equal, answer.share, types), answer.value};
}

Shares MakespanShares(const ShareProblem& problem, std::span<const double> work) {
  CheckShareProblem(problem);
  CheckWork(work, problem.jobs());
  if (problem.jobs() == 0) return {};
  const EqualJobs equal = FindEqualJobs(problem, work);
  BlockProblem blocks = BlocksOf(problem, equal);
  for (std::size_t c = 0; c < equal.classes(); ++c) blocks.blocks[c].slope = work[equal.first[c]];
  const BlockAnswer answer = MaximiseLevel(blocks);
  return {true, SharesOfJobs(equal, answer.share, problem.types()), 1 / answer.value};
}

Shares SharesWithin(const ShareProblem& problem, std::span<const double> work, double seconds) {
  CheckWork(work, problem.jobs());
  std::vector<double> need;
  need.reserve(work.size());
  for (const double w : work) need.push_back(w / seconds);
  const std::vector<double> gain(problem.rate.size(), 0.0);
  return MaxSumShares(problem, gain, need);
}

double BisectedMakespan(double shortest) {
  double low = 100;
  double high = 1e6;
  double tried = high;
  for (;;) {
    double found = 0;
    while (1.05 * low < high) {
      const double middle = (low + high) / 2;
      if (middle >= shortest) {
        found = high = middle;
      } else {
        low = middle;
      }
    }
    if (found > 0) return found;
    low = tried;
    tried = high = tried * 10;
  }
}

Shares FinishTimeShares(const ShareProblem& problem, std::span<const double> work,
                        std::span<const double> elapsed, std::span<const double> alone) {
  CheckShareProblem(problem);
  CheckWork(work, problem.jobs());
  ALLOT_CHECK_EQ(elapsed.size(), problem.jobs());
  ALLOT_CHECK_EQ(alone.size(), problem.jobs());
  if (problem.jobs() == 0) return {};
  const std::vector<double> isolated = RatesOf(problem, EvenShares(problem).of);
  BlockProblem blocks;
  blocks.capacity = problem.capacity;
  blocks.rate = problem.rate;
  std::vector<FinishGoal> goals;
  goals.reserve(problem.jobs());
  for (std::size_t i = 0; i < problem.jobs(); ++i) {
    blocks.blocks.push_back({problem.gpus[i], 0, 0});
    goals.push_back({work[i], elapsed[i], alone[i] + work[i] / isolated[i]});
  }
  BlockAnswer answer = MinimiseWorstFinish(blocks, goals);
  return {true, std::move(answer.share), answer.value};
}

Shares EvenShares(const ShareProblem& problem) {
  CheckShareProblem(problem);
  Shares shares;
  shares.of.reserve(problem.rate.size());
  const auto jobs = static_cast<double>(problem.jobs());
  double all = 0;
  for (const double capacity : problem.capacity) all += capacity / jobs;
  for (const double gpus : problem.gpus) {
    const double fit = std::max(1.0, all / gpus);
    for (const double capacity : problem.capacity)
      shares.of.push_back(capacity / jobs / gpus / fit);
  }
  return shares;
}

Shares FirstComeShares(const ShareProblem& problem) {
  CheckShareProblem(problem);
  const std::size_t types = problem.types();
  Shares shares;
  shares.of.assign(problem.rate.size(), 0.0);
  std::vector<double> left = problem.capacity;
  for (std::size_t i = 0; i < problem.jobs(); ++i) {
    std::size_t best = types;
    for (std::size_t g = 0; g < types; ++g) {
      const double rate = problem.rate[i * types + g];
      if (left[g] < problem.gpus[i]) continue;
      if (best == types || rate > problem.rate[i * types + best]) best = g;
    }
    if (best == types) break;
    if (!(problem.rate[i * types + best] > 0)) continue;
    shares.of[i * types + best] = 1;
    left[best] -= problem.gpus[i];
    shares.objective += 1;
  }
  return shares;
}

}  // namespace allot
