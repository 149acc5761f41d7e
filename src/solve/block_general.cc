#include "solve/block_general.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "solve/general_lp.h"

namespace allot::internal {
namespace {

constexpr std::size_t kNoColumn = std::numeric_limits<std::size_t>::max();

// Rows: types, times, needs (in the unit of what is asked of the block, or of its largest rate
// where that is next to nothing); columns: the level first, where there is one, in units in which
// it is about 1.
struct GeneralBlocks {
  GeneralLp lp;
  std::vector<std::size_t> column;  // [block][type]
  std::vector<double> scale;        // by block
  std::size_t first_need = 0;
  std::size_t level = kNoColumn;
  double level_unit = 1;
};

// What a level is counted in: the largest that one block alone could have.
double LevelUnit(const BlockProblem& problem) {
  double unit = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const double slope = problem.blocks[i].slope;
    if (slope > 0) unit = std::min(unit, std::ranges::max(problem.rates(i)) / slope);
  }
  return unit;
}

void Build(const BlockProblem& problem, bool with_level, GeneralBlocks* general) {
  const std::size_t types = problem.types();
  const std::size_t count = problem.blocks.size();
  GeneralLp& lp = general->lp;
  for (const double capacity : problem.capacity) lp.AddRow(-GeneralLp::kInfinite, capacity);
  for (std::size_t i = 0; i < count; ++i) lp.AddRow(-GeneralLp::kInfinite, 1);
  general->first_need = lp.rows();
  constexpr double kLeastUnit = 1e-9;
  if (with_level) general->level_unit = LevelUnit(problem);
  const double level_unit = with_level ? general->level_unit : 0;
  std::vector<LpEntry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    const auto rates = problem.rates(i);
    const double largest = std::ranges::max(rates);
    const BlockProblem::Block& block = problem.blocks[i];
    double unit = std::max(block.need, block.slope * level_unit);
    if (!(unit > 0) || unit > largest) unit = largest;
    unit = std::max(unit, kLeastUnit * largest);
    general->scale.push_back(unit > 0 ? 1 / unit : 1);
    lp.AddRow(block.need * general->scale[i], GeneralLp::kInfinite);
    if (with_level) {
      entries.push_back({general->first_need + i, -block.slope * level_unit * general->scale[i]});
    }
  }
  if (with_level) general->level = lp.AddColumn(1, entries, -GeneralLp::kInfinite);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t g = 0; g < types; ++g) {
      const double rate = problem.rate[i * types + g];
      if (!(rate > 0) || !(problem.capacity[g] > 0)) {
        general->column.push_back(kNoColumn);
        continue;
      }
      const LpEntry column[] = {{g, problem.blocks[i].use},
                                {types + i, 1},
                                {general->first_need + i, rate * general->scale[i]}};
      const bool gains = !with_level && !problem.gain.empty();
      general->column.push_back(lp.AddColumn(gains ? problem.gain[i * types + g] : 0, column));
    }
  }
}

BlockAnswer AnswerOf(const BlockProblem& problem, GeneralBlocks* general) {
  BlockAnswer answer;
  answer.general = true;
  GeneralLp& lp = general->lp;
  const LpOutcome outcome = lp.Solve();
  answer.iterations = lp.iterations();
  if (outcome == LpOutcome::kInfeasible) {
    answer.feasible = false;
    return answer;
  }
  if (outcome == LpOutcome::kUnbounded) {
    throw DataError("a problem of shares must be bounded: {} blocks on {} types are not",
                    problem.blocks.size(), problem.types());
  }
  if (outcome == LpOutcome::kFailed) {
    throw RunError("the linear program of {} blocks on {} types was not solved",
                   problem.blocks.size(), problem.types());
  }
  for (const std::size_t column : general->column) {
    answer.share.push_back(column == kNoColumn ? 0 : lp.at(column));
  }
  for (std::size_t g = 0; g < problem.types(); ++g) {
    answer.type_price.push_back(std::max(0.0, lp.price(g)) * general->level_unit);
  }
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const double price = -lp.price(general->first_need + i);
    answer.need_price.push_back(std::max(0.0, price) * general->scale[i] * general->level_unit);
  }
  return answer;
}

}  // namespace

BlockAnswer LevelByGeneralLp(const BlockProblem& problem) {
  GeneralBlocks general;
  Build(problem, true, &general);
  return AnswerOf(problem, &general);
}

BlockAnswer GainByGeneralLp(const BlockProblem& problem) {
  GeneralBlocks general;
  Build(problem, false, &general);
  return AnswerOf(problem, &general);
}

void CutToCapacities(const BlockProblem& problem, std::vector<double>* share) {
  const std::size_t types = problem.types();
  std::vector<double> used(types, 0.0);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    double time = 0;
    for (std::size_t g = 0; g < types; ++g) {
      double& x = (*share)[i * types + g];
      if (!(x > 0)) x = 0;
      time += x;
    }
    for (std::size_t g = 0; g < types; ++g) {
      double& x = (*share)[i * types + g];
      if (time > 1) x /= time;
      used[g] += problem.blocks[i].use * x;
    }
  }
  for (std::size_t g = 0; g < types; ++g) {
    if (!(used[g] > problem.capacity[g])) continue;
    const double part = problem.capacity[g] / used[g];
    for (std::size_t i = 0; i < problem.blocks.size(); ++i) (*share)[i * types + g] *= part;
  }
}

std::vector<double> RatesUnder(const BlockProblem& problem, const std::vector<double>& share) {
  const std::size_t types = problem.types();
  std::vector<double> theta(problem.blocks.size(), 0.0);
  for (std::size_t i = 0; i < theta.size(); ++i) {
    for (std::size_t g = 0; g < types; ++g) {
      theta[i] += problem.rate[i * types + g] * share[i * types + g];
    }
  }
  return theta;
}

}  // namespace allot::internal
