#pragma once
// A linear program of any shape, solved by the simplex method of Clp (COIN-OR, EPL-2.0). For
// problems without the structure of block_problem.h (pairs of jobs), for those that the interior
// point method does not solve, and as the check of both. Columns may be added between solutions:
// the next one begins at the basis of the last.
//
// Everything else of the house sees Clp through this header only.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace allot {

struct LpEntry {
  std::size_t row = 0;
  double value = 0;
};

enum class LpOutcome { kOptimal, kInfeasible, kUnbounded, kFailed };

// maximise sum of gain_j v_j; lower_j <= v_j <= upper_j; low_i <= sum_j a_ij v_j <= high_i.
class GeneralLp {
 public:
  static constexpr double kInfinite = 1e30;  // and what is beyond it
  // Rows and reduced costs are kept to this, absolute: rows and columns should be of size 1.
  static constexpr double kTolerance = 1e-10;

  GeneralLp();
  ~GeneralLp();
  GeneralLp(const GeneralLp&) = delete;
  GeneralLp& operator=(const GeneralLp&) = delete;

  // All rows come before the first column. The index of the new one. Values must be finite.
  std::size_t AddRow(double low, double high);
  std::size_t AddColumn(double gain, std::span<const LpEntry> entries, double lower = 0,
                        double upper = kInfinite);
  std::size_t rows() const { return low_.size(); }
  std::size_t columns() const { return columns_; }

  // The same columns and basis with another right side.
  void SetRow(std::size_t row, double low, double high);

  LpOutcome Solve();

  // Of the last solution.
  double value() const;
  double at(std::size_t column) const;
  // What the value gains for each unit of a row's bound: >= 0 where `high` binds, <= 0 for `low`.
  double price(std::size_t row) const;
  int iterations() const;  // over all solutions

 private:
  struct Model;
  std::unique_ptr<Model> model_;
  std::vector<double> low_;
  std::vector<double> high_;
  std::size_t columns_ = 0;
};

}  // namespace allot
