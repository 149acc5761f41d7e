#include "agents/training/state_baseline.h"

#include <Eigen/Dense>
#include <array>
#include <cmath>

#include "agents/training/rollout.h"
#include "core/check.h"

namespace allot {
namespace {

using Matrix = Eigen::Matrix<double, kBacklogNumbers, kBacklogNumbers>;
using Vector = Eigen::Matrix<double, kBacklogNumbers, 1>;

// Keeps the fit from what a few instants of a few rollouts cannot tell.
constexpr double kRidge = 1e-3;

// What is less than this share of the plain squares is rounding: the rollouts are equal there.
constexpr double kRounding = 1e-12;

struct Normal {                   // equations
  Vector plain = Vector::Zero();  // squares, not about the mean
  Matrix squares = Matrix::Zero();
  Vector products = Vector::Zero();
};

Vector Fit(Normal normal) {
  // In units of each number's own size; one that never differs has no weight.
  Vector unit;
  for (Eigen::Index i = 0; i < unit.size(); ++i) {
    const double square = normal.squares(i, i);
    unit(i) = square > kRounding * normal.plain(i) ? 1 / std::sqrt(square) : 0;
  }
  const Matrix scale = unit.asDiagonal();
  Matrix squares = scale * normal.squares * scale;
  squares.diagonal().array() += kRidge;
  return scale * squares.ldlt().solve(scale * normal.products);
}

double ValueAt(const std::vector<double>& returns, std::size_t t) {
  return t < returns.size() ? returns[t] : 0;
}
Vector ValueAt(const std::vector<Backlog>& backlogs, std::size_t t) {
  return t < backlogs.size() ? Vector(Vector::Map(backlogs[t].data())) : Vector(Vector::Zero());
}

}  // namespace

std::vector<std::vector<double>> StateAdvantages(
    const std::vector<std::vector<double>>& returns,
    const std::vector<std::vector<Backlog>>& backlogs) {
  const std::size_t rollouts = returns.size();
  ALLOT_CHECK_GE(rollouts, std::size_t{3});
  std::size_t longest = 0;
  for (std::size_t k = 0; k < rollouts; ++k) {
    ALLOT_CHECK_EQ(returns[k].size(), backlogs[k].size());
    longest = std::max(longest, returns[k].size());
  }
  const auto others = static_cast<double>(rollouts - 1);
  std::vector<Normal> of_others(rollouts);
  for (std::size_t t = 0; t < longest; ++t) {
    Vector sum = Vector::Zero();
    double total = 0;
    Normal all;
    for (std::size_t k = 0; k < rollouts; ++k) {
      const Vector s = ValueAt(backlogs[k], t);
      const double g = ValueAt(returns[k], t);
      sum += s;
      total += g;
      all.squares += s * s.transpose();
      all.products += s * g;
    }
    for (std::size_t k = 0; k < rollouts; ++k) {
      const Vector s = ValueAt(backlogs[k], t);
      const double g = ValueAt(returns[k], t);
      // About their own mean, in which rollout k is not.
      of_others[k].squares +=
          all.squares - s * s.transpose() - (sum - s) * (sum - s).transpose() / others;
      of_others[k].plain += (all.squares - s * s.transpose()).diagonal();
      of_others[k].products += all.products - s * g - (sum - s) * (total - g) / others;
    }
  }
  std::vector<std::vector<double>> advantages = LeaveOneOutAdvantages(returns);
  std::vector<Vector> weights;
  weights.reserve(of_others.size());
  for (const Normal& normal : of_others) weights.push_back(Fit(normal));
  for (std::size_t t = 0; t < longest; ++t) {
    Vector sum = Vector::Zero();
    for (const auto& one : backlogs) sum += ValueAt(one, t);
    for (std::size_t k = 0; k < rollouts; ++k) {
      if (t >= advantages[k].size()) continue;
      const Vector s = ValueAt(backlogs[k], t);
      advantages[k][t] -= weights[k].dot(s - (sum - s) / others);
    }
  }
  return advantages;
}

}  // namespace allot
