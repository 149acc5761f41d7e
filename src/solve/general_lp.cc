#include "solve/general_lp.h"

#include <cmath>
#include <coin/ClpSimplex.hpp>

#include "core/check.h"
#include "core/error.h"

namespace allot {

struct GeneralLp::Model {
  ClpSimplex clp;
  bool begun = false;
  int iterations = 0;
  // Columns since the last solution, one after the other.
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> cost;
  std::vector<CoinBigIndex> begin = {0};
  std::vector<int> row;
  std::vector<double> value;
};

namespace {

// After trouble with numbers: the other method, then both from the basis of slacks with other
// scalings, at last with less exact rows.
void SolveAnew(ClpSimplex* clp) {
  constexpr double kLessExact = 1e-8;
  clp->dual();
  const int usual = clp->scalingFlag();
  for (const double tolerance : {GeneralLp::kTolerance, kLessExact}) {
    clp->setPrimalTolerance(tolerance);
    clp->setDualTolerance(tolerance);
    for (const int scaling : {1, 2, 0}) {  // equilibrium, geometric, none
      if (clp->status() <= 2) break;
      clp->scaling(scaling);
      clp->allSlackBasis(true);
      clp->primal();
      if (clp->status() > 2) clp->dual();
    }
  }
  clp->scaling(usual);
  clp->setPrimalTolerance(GeneralLp::kTolerance);
  clp->setDualTolerance(GeneralLp::kTolerance);
}

// Optimal as Clp has scaled it, but rows or reduced costs as they were given are not kept.
bool IsOfScaledOnly(const ClpSimplex& clp) {
  return clp.status() == 0 && clp.secondaryStatus() >= 2 && clp.secondaryStatus() <= 4;
}

}  // namespace

GeneralLp::GeneralLp() : model_(std::make_unique<Model>()) {
  model_->clp.setLogLevel(0);
  model_->clp.setPrimalTolerance(kTolerance);
  model_->clp.setDualTolerance(kTolerance);
}

GeneralLp::~GeneralLp() = default;

std::size_t GeneralLp::AddRow(double low, double high) {
  ALLOT_CHECK(!model_->begun);
  low_.push_back(low);
  high_.push_back(high);
  return low_.size() - 1;
}

std::size_t GeneralLp::AddColumn(double gain, std::span<const LpEntry> entries, double lower,
                                 double upper) {
  Model& model = *model_;
  model.lower.push_back(lower);
  model.upper.push_back(upper);
  model.cost.push_back(-gain);
  ALLOT_CHECK(std::isfinite(gain));
  for (const LpEntry& entry : entries) {
    ALLOT_CHECK_LT(entry.row, rows());
    if (!std::isfinite(entry.value)) {
      throw DataError("a coefficient must be finite, got {} (row {}, column {})", entry.value,
                      entry.row, columns_);
    }
    if (entry.value == 0) continue;
    model.row.push_back(static_cast<int>(entry.row));
    model.value.push_back(entry.value);
  }
  model.begin.push_back(static_cast<CoinBigIndex>(model.row.size()));
  return columns_++;
}

void GeneralLp::SetRow(std::size_t row, double low, double high) {
  low_[row] = low;
  high_[row] = high;
  if (model_->begun) model_->clp.setRowBounds(static_cast<int>(row), low, high);
}

LpOutcome GeneralLp::Solve() {
  Model& model = *model_;
  ClpSimplex& clp = model.clp;
  const bool first = !model.begun;
  if (first) {
    clp.resize(static_cast<int>(rows()), 0);
    for (std::size_t i = 0; i < rows(); ++i) {
      clp.setRowBounds(static_cast<int>(i), low_[i], high_[i]);
    }
    model.begun = true;
  }
  if (!model.cost.empty()) {
    clp.addColumns(static_cast<int>(model.cost.size()), model.lower.data(), model.upper.data(),
                   model.cost.data(), model.begin.data(), model.row.data(), model.value.data());
    for (auto* list : {&model.lower, &model.upper, &model.cost, &model.value}) list->clear();
    model.begin.assign(1, 0);
    model.row.clear();
  }
  clp.primal(first ? 0 : 1);
  model.iterations += clp.numberIterations();
  if (clp.status() > 2) SolveAnew(&clp);
  if (IsOfScaledOnly(clp)) {
    const int usual = clp.scalingFlag();
    clp.scaling(0);
    clp.primal(1);

    if (clp.status() > 2) SolveAnew(&clp);
    clp.scaling(usual);
  }
  switch (clp.status()) {
    case 0:
      return LpOutcome::kOptimal;
    case 1:
      return LpOutcome::kInfeasible;
    case 2:
      return LpOutcome::kUnbounded;
    default:
      return LpOutcome::kFailed;
  }
}

double GeneralLp::value() const { return -model_->clp.objectiveValue(); }
double GeneralLp::at(std::size_t column) const { return model_->clp.getColSolution()[column]; }
double GeneralLp::price(std::size_t row) const { return -model_->clp.getRowPrice()[row]; }
int GeneralLp::iterations() const { return model_->iterations; }

}  // namespace allot
