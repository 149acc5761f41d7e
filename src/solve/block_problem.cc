#include "solve/block_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/error.h"
#include "solve/block_certificate.h"
#include "solve/block_general.h"
#include "solve/block_interior_point.h"
#include "solve/finish_newton.h"

namespace allot {
namespace {

using internal::BlockGoal;
using internal::InteriorAnswer;

void CheckNumber(const char* name, double value, bool positive, std::size_t block) {
  if (std::isfinite(value) && (positive ? value > 0 : value >= 0)) return;
  throw DataError("'{}' must be finite and {} 0, got {} (block {})", name,
                  positive ? ">" : ">=", value, block);
}

// `asks`: something is asked of every block.
void CheckProblem(const BlockProblem& problem, bool asks) {
  const std::size_t types = problem.types();
  const std::size_t entries = problem.blocks.size() * types;
  ALLOT_CHECK_EQ(problem.rate.size(), entries);
  ALLOT_CHECK(problem.gain.empty() || problem.gain.size() == entries);
  for (std::size_t g = 0; g < types; ++g) {
    if (std::isfinite(problem.capacity[g]) && problem.capacity[g] >= 0) continue;
    throw DataError("'capacity' must be finite and >= 0, got {} (type {})", problem.capacity[g], g);
  }
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const BlockProblem::Block& block = problem.blocks[i];
    CheckNumber("use", block.use, true, i);
    CheckNumber("need", block.need, false, i);
    CheckNumber("slope", block.slope, false, i);
    bool runs = false;
    for (std::size_t g = 0; g < types; ++g) {
      const double rate = problem.rate[i * types + g];
      if (!std::isfinite(rate) || rate < 0) {
        throw DataError("'rate' must be finite and >= 0, got {} (block {}, type {})", rate, i, g);
      }
      runs = runs || (rate > 0 && problem.capacity[g] > 0);
      if (!problem.gain.empty() && !std::isfinite(problem.gain[i * types + g])) {
        throw DataError("'gain' must be finite, got {} (block {}, type {})",
                        problem.gain[i * types + g], i, g);
      }
    }
    if (!runs && (asks || block.need > 0 || block.slope > 0)) {
      throw DataError(
          "a block of which a rate is asked must have a rate > 0 on a type with capacity, got none "
          "of {} types (block {})",
          types, i);
    }
  }
}

BlockAnswer From(InteriorAnswer&& interior) {
  BlockAnswer answer;
  answer.share = std::move(interior.share);
  answer.type_price = std::move(interior.type_price);
  answer.need_price = std::move(interior.need_price);
  answer.iterations = interior.iterations;
  return answer;
}

// Whether `bound` proves the answer. Of a level, errors count against what it raises.
bool Proves(double bound, double value, double size) {
  return std::abs(bound - value) <= 0.5 * kBlockTolerance * size;
}

void SettleLevel(const BlockProblem& problem, BlockAnswer* answer) {
  if (!answer->feasible) return;
  internal::CutToCapacities(problem, &answer->share);
  answer->slack = internal::RatesUnder(problem, answer->share);
  double level = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < answer->slack.size(); ++i) {
    const BlockProblem::Block& block = problem.blocks[i];
    answer->slack[i] -= block.need;
    if (block.slope > 0) level = std::min(level, answer->slack[i] / block.slope);
  }
  answer->value = level;
  for (std::size_t i = 0; i < answer->slack.size(); ++i) {
    answer->slack[i] -= problem.blocks[i].slope * level;
  }
}

void SettleGain(const BlockProblem& problem, BlockAnswer* answer) {
  internal::CutToCapacities(problem, &answer->share);
  answer->slack = internal::RatesUnder(problem, answer->share);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    answer->slack[i] -= problem.blocks[i].need;
  }
  answer->value = 0;
  for (std::size_t v = 0; v < problem.gain.size(); ++v) {
    answer->value += problem.gain[v] * answer->share[v];
  }
}

// What a relative error of the gain is relative to: where no gain is wanted, 1.
double GainSize(const BlockProblem& problem, const BlockAnswer& answer) {
  double largest = 0;
  for (const double gain : problem.gain) largest = std::max(largest, std::abs(gain));
  return largest > 0 ? std::max(std::abs(answer.value), 1e-3 * largest) : 1;
}

bool KeepsNeeds(const BlockProblem& problem, const BlockAnswer& answer) {
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    if (!(answer.slack[i] >= -kBlockTolerance * problem.blocks[i].need)) return false;
  }
  return true;
}

bool InteriorSuits(const BlockProblem& problem) {
  return problem.types() <= internal::kMostInteriorTypes && !problem.blocks.empty();
}

bool AnyNeed(const BlockProblem& problem) {
  return std::any_of(problem.blocks.begin(), problem.blocks.end(),
                     [](const BlockProblem::Block& block) { return block.need > 0; });
}

// The largest part of all needs that can hold together.
double PartOfNeeds(BlockProblem problem) {
  for (BlockProblem::Block& block : problem.blocks) {
    block.slope = block.need;
    block.need = 0;
  }
  return MaximiseLevel(problem).value;
}

void SettleFinish(const BlockProblem& problem, std::span<const FinishGoal> goals,
                  BlockAnswer* answer) {
  internal::CutToCapacities(problem, &answer->share);
  answer->slack = internal::RatesUnder(problem, answer->share);
  answer->value = 0;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    const double seconds = goals[i].elapsed + goals[i].work / answer->slack[i];
    answer->value = std::max(answer->value, seconds / goals[i].due);
  }
  for (std::size_t i = 0; i < goals.size(); ++i) {
    answer->slack[i] -= goals[i].work / (answer->value * goals[i].due - goals[i].elapsed);
  }
}

// `best`: any answer, the one to better.
BlockAnswer FinishByNewton(BlockProblem problem, std::span<const FinishGoal> goals,
                           BlockAnswer best) {
  const std::size_t types = problem.types();
  double low = 0;   // of each block alone on its best type
  double high = 0;  // of an even division
  double all = 0;
  double used = 0;
  for (const double capacity : problem.capacity) all += capacity;
  for (const BlockProblem::Block& block : problem.blocks) used += block.use;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    double fastest = 0;
    double even = 0;
    for (std::size_t g = 0; g < types; ++g) {
      if (!(problem.capacity[g] > 0)) continue;
      const double rate = problem.rate[i * types + g];
      fastest = std::max(fastest, rate);
      even += rate * problem.capacity[g] / all * std::min(1.0, all / used);
    }
    low = std::max(low, (goals[i].elapsed + goals[i].work / fastest) / goals[i].due);
    high = std::max(high, (goals[i].elapsed + goals[i].work / even) / goals[i].due);
  }
  if (best.share.empty()) best.value = std::numeric_limits<double>::infinity();
  internal::LeastFinishRatio(goals, low, std::min(high, best.value), [&](const auto& slopes) {
    for (std::size_t i = 0; i < goals.size(); ++i) {
      problem.blocks[i].need = 0;
      problem.blocks[i].slope = slopes[i];
    }
    BlockAnswer answer = MaximiseLevel(problem);
    internal::LevelOfSlopes at{answer.value, answer.need_price};
    if (!answer.feasible) return internal::LevelOfSlopes{};
    SettleFinish(problem, goals, &answer);
    answer.iterations += best.iterations;
    if (answer.value < best.value) best = std::move(answer);
    return at;
  });
  return best;
}

}  // namespace

BlockAnswer MaximiseLevel(const BlockProblem& problem) {
  CheckProblem(problem, false);
  if (std::none_of(problem.blocks.begin(), problem.blocks.end(),
                   [](const BlockProblem::Block& block) { return block.slope > 0; })) {
    throw DataError("a level needs a block with 'slope' > 0, got none of {}: it is unbounded",
                    problem.blocks.size());
  }
  BlockAnswer interior;
  if (InteriorSuits(problem)) {
    InteriorAnswer solved = internal::SolveInterior(problem, BlockGoal::kLevel, {});
    const double size = std::max(solved.unit, std::abs(solved.level));
    interior = From(std::move(solved));
    if (!interior.share.empty()) {
      SettleLevel(problem, &interior);
      if (Proves(internal::LevelBound(problem, &interior), interior.value, size)) return interior;
    }
  }
  BlockAnswer answer = internal::LevelByGeneralLp(problem);
  SettleLevel(problem, &answer);
  // Over many decades either can be the one that is off.
  const bool holds = !interior.share.empty() && KeepsNeeds(problem, interior);
  if (holds && !(answer.feasible && answer.value >= interior.value)) return interior;
  return answer;
}

BlockAnswer MaximiseGain(const BlockProblem& problem) {
  CheckProblem(problem, false);
  if (problem.blocks.empty()) return {};
  BlockAnswer answer;
  if (AnyNeed(problem)) {
    const double part = PartOfNeeds(problem);
    if (part < 1 - kBlockTolerance) {
      answer.feasible = false;
      answer.value = part;
      return answer;
    }
  }
  if (InteriorSuits(problem)) {
    answer = From(internal::SolveInterior(problem, BlockGoal::kGain, {}));
    if (!answer.share.empty()) SettleGain(problem, &answer);
    if (!answer.share.empty() && KeepsNeeds(problem, answer) &&
        Proves(internal::GainBound(problem, answer), answer.value, GainSize(problem, answer))) {
      return answer;
    }
  }
  answer = internal::GainByGeneralLp(problem);
  if (answer.feasible) SettleGain(problem, &answer);
  return answer;
}

BlockAnswer MinimiseWorstFinish(const BlockProblem& problem, std::span<const FinishGoal> goals) {
  ALLOT_CHECK_EQ(goals.size(), problem.blocks.size());
  CheckProblem(problem, true);
  for (std::size_t i = 0; i < goals.size(); ++i) {
    CheckNumber("work", goals[i].work, true, i);
    CheckNumber("elapsed", goals[i].elapsed, false, i);
    CheckNumber("due", goals[i].due, true, i);
  }
  if (problem.blocks.empty()) return {};
  BlockAnswer answer;
  if (InteriorSuits(problem)) {
    InteriorAnswer interior = internal::SolveInterior(problem, BlockGoal::kFinish, goals);
    answer = From(std::move(interior));
    if (!answer.share.empty()) {
      SettleFinish(problem, goals, &answer);
      const double bound = internal::FinishBound(problem, goals, &answer);
      if (Proves(bound, answer.value, answer.value)) return answer;
    }
  }
  return FinishByNewton(problem, goals, std::move(answer));
}

}  // namespace allot
