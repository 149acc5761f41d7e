#pragma once
// Unknown entries of a matrix from its known ones, by a factorisation of low rank: throughputs that
// were not profiled, as Gavel estimates them (Narayanan et al., OSDI'20, section 6, after Quasar).
//
// Probabilistic matrix factorisation (Salakhutdinov and Mnih, NIPS'07): X = U V' with Gaussian
// priors on U and V, whose mode is the minimum of
//   sum over known (i, j) of (x_ij - u_i . v_j)^2 + mu (|U|^2 + |V|^2),
// found by alternating least squares, each a ridge regression for one row of U or of V.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace allot {

// Row by row.
struct DenseMatrix {
  DenseMatrix(std::size_t height, std::size_t width, double value = 0)
      : rows(height), columns(width), values(height * width, value) {}
  double& at(std::size_t i, std::size_t j) { return values[i * columns + j]; }
  double at(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
  std::span<const double> row(std::size_t i) const {
    return std::span(values).subspan(i * columns, columns);
  }
  bool operator==(const DenseMatrix&) const = default;

  std::size_t rows;
  std::size_t columns;
  std::vector<double> values;
};

struct CompletionOptions {
  int rank = 10;
  double mu = 0.01;   // > 0
  int sweeps = 1000;  // at most: each solves for U, then for V
  // Ends where a sweep changes no entry by more than this, relative to the largest known one.
  double tolerance = 1e-7;
  std::uint64_t seed = 0;  // of the factors that it begins with
};

// NaN: unknown. Known entries come back as they are. An unknown one in a row or a column without a
// known one is 0, as the priors say. O(sweeps x known x rank^2). Same arguments, same bits.
DenseMatrix CompleteMatrix(const DenseMatrix& values, const CompletionOptions& options = {});

// Rates > 0, of models in rows and ways to run in columns, NaN: unknown. Logarithms are completed,
// less what is the row's and the column's own, so that a model and a GPU type that are each fast by
// a factor everywhere need no rank. What is known comes back as it is. A row without anything known
// comes back unknown.
DenseMatrix CompleteRates(const DenseMatrix& rates, const CompletionOptions& options = {});

// 1 - cosine of the angle between two vectors of one length; 1 where one is 0.
double CosineDistance(std::span<const double> a, std::span<const double> b);

// Of some rows of a complete matrix the one with the least cosine distance to `row`, the first of
// equal ones. Contract: there is one.
std::size_t NearestRow(const DenseMatrix& matrix, std::span<const std::size_t> rows,
                       std::span<const double> row);

}  // namespace allot
