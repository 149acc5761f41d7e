#include "solve/block_general.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "solve/general_lp.h"

namespace allot::internal {
namespace {

constexpr std::size_t kNoColumn = std::numeric_limits<std::size_t>::max();

// Rows: types, times, needs (in the unit of the block's largest rate); columns: the level first,
// where there is one.
struct GeneralBlocks {
  GeneralLp lp;
  std::vector<std::size_t> column;  // [block][type]
  std::vector<double> scale;        // by block
  std::size_t first_need = 0;
  std::size_t level = kNoColumn;
};

void Build(const BlockProblem& problem, bool with_level, GeneralBlocks* general) {
  const std::size_t types = problem.types();
  const std::size_t count = problem.blocks.size();
  GeneralLp& lp = general->lp;
  for (const double capacity : problem.capacity) lp.AddRow(-GeneralLp::kInfinite, capacity);
  for (std::size_t i = 0; i < count; ++i) lp.AddRow(-GeneralLp::kInfinite, 1);
  general->first_need = lp.rows();
  std::vector<LpEntry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    const auto rates = problem.rates(i);
    const double largest = *std::max_element(rates.begin(), rates.end());
    general->scale.push_back(largest > 0 ? 1 / largest : 1);
    lp.AddRow(problem.blocks[i].need * general->scale[i], GeneralLp::kInfinite);
    if (with_level) {
      entries.push_back({general->first_need + i, -problem.blocks[i].slope * general->scale[i]});
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
    answer.type_price.push_back(std::max(0.0, lp.price(g)));
  }
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const double price = -lp.price(general->first_need + i);
    answer.need_price.push_back(std::max(0.0, price) * general->scale[i]);
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
