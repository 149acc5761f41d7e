#include "solve/water_filling.h"

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

// Who has reached a final level keeps it but for this part: without it the next problem has no
// inside for an interior point to be in.
constexpr double kRelaxed = 1e-9;

// Blocks that cannot rise: those whose need has a price. Prices times slopes sum to 1; those of
// blocks that can rise are below what the solver's tolerance leaves.
std::vector<std::size_t> Saturated(const BlockProblem& blocks, const BlockAnswer& answer) {
  std::vector<std::size_t> saturated;
  double rising = 0;
  std::size_t most = 0;
  const auto part = [&](std::size_t i) { return answer.need_price[i] * blocks.blocks[i].slope; };
  for (std::size_t i = 0; i < blocks.blocks.size(); ++i) {
    rising += blocks.blocks[i].slope > 0 ? 1 : 0;
    if (part(i) > part(most)) most = i;
  }
  for (std::size_t i = 0; i < blocks.blocks.size(); ++i) {
    if (part(i) * rising > 1e-4) saturated.push_back(i);
  }
  if (saturated.empty()) saturated.push_back(most);
  return saturated;
}

// The next level; where rounding has made the final levels impossible together, they give way a
// little. Not feasible: they did not help, and what was found before stands.
BlockAnswer NextLevel(BlockProblem* blocks) {
  constexpr int kTimes = 3;
  constexpr double kGiveWay = 1e-8;
  BlockAnswer answer = MaximiseLevel(*blocks);
  for (int time = 0; time < kTimes && !answer.feasible; ++time) {
    for (BlockProblem::Block& block : blocks->blocks) block.need *= 1 - kGiveWay;
    answer = MaximiseLevel(*blocks);
  }
  return answer;
}

}  // namespace

Shares WaterFillingShares(const ShareProblem& problem, std::vector<double>* levels) {
  CheckShareProblem(problem);
  if (problem.jobs() == 0) return {};
  const EqualJobs equal = FindEqualJobs(problem);
  BlockProblem blocks = BlocksOf(problem, equal);
  const std::vector<double> even = EvenRates(problem);
  std::vector<double> slope;
  for (std::size_t c = 0; c < equal.classes(); ++c) {
    const std::size_t job = equal.first[c];
    slope.push_back(problem.weight[job] * even[job] / problem.gpus[job]);
    blocks.blocks[c].slope = slope[c];
  }
  std::vector<double> level(equal.classes(), 0.0);
  Shares shares;
  BlockAnswer answer;
  for (std::size_t rising = equal.classes(); rising > 0;) {
    BlockAnswer next = NextLevel(&blocks);
    if (!next.feasible) {
      for (std::size_t c = 0; c < level.size(); ++c) {
        if (blocks.blocks[c].slope > 0) level[c] = answer.value;
      }
      break;
    }
    answer = std::move(next);
    for (const std::size_t c : Saturated(blocks, answer)) {
      level[c] = answer.value;
      blocks.blocks[c] = {blocks.blocks[c].use, slope[c] * level[c] * (1 - kRelaxed), 0};
      --rising;
    }
  }
  shares.of = SharesOfJobs(equal, answer.share, problem.types());
  shares.objective = *std::min_element(level.begin(), level.end());
  if (levels != nullptr) {
    levels->clear();
    for (const std::int32_t c : equal.class_of) {
      levels->push_back(level[static_cast<std::size_t>(c)]);
    }
  }
  return shares;
}

namespace {

// How fast the level of each job rises while some have reached theirs.
std::vector<double> RisingWeights(const ShareProblem& problem,
                                  std::span<const ShareEntity> entities,
                                  std::span<const std::int32_t> entity_of,
                                  const std::vector<char>& final_level) {
  std::vector<double> weights(problem.jobs(), 0.0);
  std::vector<double> sum(entities.size(), 0.0);
  for (std::size_t i = 0; i < problem.jobs(); ++i) {
    const auto e = static_cast<std::size_t>(entity_of[i]);
    if (final_level[i] != 0) continue;
    if (entities[e].first_come) {
      if (sum[e] == 0) weights[i] = entities[e].weight;
      sum[e] = 1;
    } else {
      sum[e] += problem.weight[i];
    }
  }
  for (std::size_t i = 0; i < problem.jobs(); ++i) {
    const auto e = static_cast<std::size_t>(entity_of[i]);
    if (final_level[i] != 0 || entities[e].first_come) continue;
    weights[i] = entities[e].weight * problem.weight[i] / sum[e];
  }
  return weights;
}

}  // namespace

Shares HierarchicalShares(const ShareProblem& problem, std::span<const ShareEntity> entities,
                          std::span<const std::int32_t> entity_of) {
  CheckShareProblem(problem);
  ALLOT_CHECK_EQ(entity_of.size(), problem.jobs());
  for (std::size_t e = 0; e < entities.size(); ++e) {
    if (std::isfinite(entities[e].weight) && entities[e].weight > 0) continue;
    throw DataError("an entity's weight must be finite and > 0, got {} (entity {})",
                    entities[e].weight, e);
  }
  const std::size_t jobs = problem.jobs();
  if (jobs == 0) return {};
  const std::vector<double> even = EvenRates(problem);
  BlockProblem blocks;
  blocks.capacity = problem.capacity;
  blocks.rate = problem.rate;
  for (const double gpus : problem.gpus) blocks.blocks.push_back({gpus, 0, 0});
  std::vector<double> level(jobs, 0.0);  // theta / even
  std::vector<char> final_level(jobs, 0);
  BlockAnswer answer;
  for (std::size_t rising = jobs; rising > 0;) {
    const std::vector<double> weights = RisingWeights(problem, entities, entity_of, final_level);
    for (std::size_t i = 0; i < jobs; ++i) {
      blocks.blocks[i].need = level[i] * even[i] * (1 - kRelaxed);
      blocks.blocks[i].slope = weights[i] * even[i] / problem.gpus[i];
    }
    BlockAnswer next = NextLevel(&blocks);
    if (!next.feasible) break;
    answer = std::move(next);
    for (std::size_t i = 0; i < jobs; ++i) {
      level[i] += std::max(0.0, answer.value) * weights[i] / problem.gpus[i];
    }
    for (const std::size_t i : Saturated(blocks, answer)) {
      final_level[i] = 1;
      --rising;
    }
  }
  Shares shares;
  shares.objective = level[0];
  const std::vector<double> theta = RatesOf(problem, answer.share);
  for (std::size_t i = 0; i < jobs; ++i) {
    shares.objective = std::min(shares.objective, theta[i] / even[i]);
  }
  shares.of = std::move(answer.share);
  return shares;
}

}  // namespace allot
