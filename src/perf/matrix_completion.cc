#include "perf/matrix_completion.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/rng.h"

namespace allot {
namespace {

constexpr double kWeaker = 0.8;  // the priors, from sweep to sweep

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using Factors = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ByRow = Eigen::Map<const Factors>;

// By row, the columns of its known entries.
using Known = std::vector<std::vector<Index>>;

Known KnownOf(const MatrixXd& values) {
  Known known(static_cast<std::size_t>(values.rows()));
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) {
      if (std::isfinite(values(i, j))) known[static_cast<std::size_t>(i)].push_back(j);
    }
  }
  return known;
}

// The best rows of `factors` with those of `others` fixed.
void Regress(const MatrixXd& values, const Known& known, const Factors& others, double mu,
             Factors* factors) {
  const Index rank = others.cols();
  for (Index i = 0; i < factors->rows(); ++i) {
    Factors gram = mu * Factors::Identity(rank, rank);  // its lower half
    VectorXd moment = VectorXd::Zero(rank);
    for (const Index j : known[static_cast<std::size_t>(i)]) {
      // Plain loops: the sanitizers' builds do not inline, and spent half of their tests here.
      const double value = values(i, j);
      const double* const other = others.data() + j * rank;
      for (Index a = 0; a < rank; ++a) {
        double* const row = gram.data() + a * rank;
        for (Index b = 0; b <= a; ++b) row[b] += other[a] * other[b];
        moment[a] += value * other[a];
      }
    }
    factors->row(i) = gram.llt().solve(moment).transpose();
  }
}

}  // namespace

DenseMatrix CompleteMatrix(const DenseMatrix& given, const CompletionOptions& options) {
  ALLOT_CHECK_GE(options.rank, 1);
  ALLOT_CHECK_GT(options.mu, 0.0);
  DenseMatrix complete = given;
  if (complete.values.empty()) return complete;
  const MatrixXd values =
      ByRow(given.values.data(), static_cast<Index>(given.rows), static_cast<Index>(given.columns));
  const MatrixXd turned = values.transpose();
  const Known by_row = KnownOf(values);
  const Known by_column = KnownOf(turned);
  double largest = 0;
  for (Index i = 0; i < values.rows(); ++i) {
    for (const Index j : by_row[static_cast<std::size_t>(i)]) {
      largest = std::max(largest, std::abs(values(i, j)));
    }
  }
  const double scale = std::sqrt(largest > 0 ? largest : 1);
  Rng rng(options.seed, "matrix-completion");
  Factors u = Factors::Zero(values.rows(), options.rank);
  Factors v(values.cols(), options.rank);
  for (Index j = 0; j < v.rows(); ++j) {
    for (Index k = 0; k < v.cols(); ++k)
      v(j, k) = scale * rng.Normal() / std::sqrt(static_cast<double>(options.rank));
  }
  MatrixXd estimate = MatrixXd::Zero(values.rows(), values.cols());
  // From strong priors, under which the minimum is one, down to those asked for: where it began,
  // and valleys that plain alternation does not leave, then do not matter.
  double mu = std::max(options.mu, largest);
  for (int sweep = 0; sweep < options.sweeps; ++sweep) {
    Regress(values, by_row, v, mu, &u);
    Regress(turned, by_column, u, mu, &v);
    MatrixXd next = u * v.transpose();
    const double change = (next - estimate).cwiseAbs().maxCoeff();
    estimate = std::move(next);
    if (mu <= options.mu && change <= options.tolerance * largest) break;
    mu = std::max(options.mu, kWeaker * mu);
  }
  for (std::size_t i = 0; i < given.rows; ++i) {
    for (std::size_t j = 0; j < given.columns; ++j) {
      if (std::isfinite(given.at(i, j))) continue;
      complete.at(i, j) = estimate(static_cast<Index>(i), static_cast<Index>(j));
    }
  }
  return complete;
}

namespace {

constexpr int kBiasSweeps = 200;

// The sums a_i + b_j that are nearest to the known entries, by turns.
struct Biases {
  std::vector<double> row;
  std::vector<double> column;
};

Biases BiasesOf(const DenseMatrix& values) {
  Biases biases{std::vector<double>(values.rows), std::vector<double>(values.columns)};
  const auto mean = [](std::size_t count, const auto& entry) {
    double sum = 0;
    int known = 0;
    for (std::size_t k = 0; k < count; ++k) {
      if (const double value = entry(k); std::isfinite(value)) {
        sum += value;
        ++known;
      }
    }
    return known > 0 ? sum / known : 0;
  };
  for (int sweep = 0; sweep < kBiasSweeps; ++sweep) {
    for (std::size_t j = 0; j < values.columns; ++j) {
      biases.column[j] =
          mean(values.rows, [&](std::size_t i) { return values.at(i, j) - biases.row[i]; });
    }
    for (std::size_t i = 0; i < values.rows; ++i) {
      biases.row[i] =
          mean(values.columns, [&](std::size_t j) { return values.at(i, j) - biases.column[j]; });
    }
  }
  return biases;
}

}  // namespace

DenseMatrix CompleteRates(const DenseMatrix& rates, const CompletionOptions& options) {
  DenseMatrix logs = rates;
  for (double& value : logs.values) {
    if (!std::isfinite(value)) continue;
    ALLOT_CHECK_GT(value, 0.0);
    value = std::log(value);
  }
  const Biases biases = BiasesOf(logs);
  for (std::size_t i = 0; i < logs.rows; ++i) {
    for (std::size_t j = 0; j < logs.columns; ++j) {
      logs.at(i, j) -= biases.row[i] + biases.column[j];
    }
  }
  const DenseMatrix complete = CompleteMatrix(logs, options);
  DenseMatrix result = rates;
  for (std::size_t i = 0; i < rates.rows; ++i) {
    const std::span<const double> row = rates.row(i);
    const bool known =
        std::any_of(row.begin(), row.end(), [](double rate) { return std::isfinite(rate); });
    for (std::size_t j = 0; j < rates.columns && known; ++j) {
      if (std::isfinite(rates.at(i, j))) continue;
      result.at(i, j) = std::exp(complete.at(i, j) + biases.row[i] + biases.column[j]);
    }
  }
  return result;
}

double CosineDistance(std::span<const double> a, std::span<const double> b) {
  ALLOT_CHECK_EQ(a.size(), b.size());
  double dot = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  const double lengths = std::sqrt(aa) * std::sqrt(bb);
  return lengths > 0 ? 1 - dot / lengths : 1;
}

std::size_t NearestRow(const DenseMatrix& matrix, std::span<const std::size_t> rows,
                       std::span<const double> row) {
  ALLOT_CHECK(!rows.empty());
  std::size_t nearest = rows.front();
  double least = CosineDistance(matrix.row(nearest), row);
  for (const std::size_t other : rows) {
    const double distance = CosineDistance(matrix.row(other), row);
    if (!(distance < least)) continue;
    nearest = other;
    least = distance;
  }
  return nearest;
}

}  // namespace allot
