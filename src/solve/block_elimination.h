#pragma once
// One block inside the interior point method (block_interior_point.h): its numbers, and how it is
// eliminated from Newton's equations.

#include <array>
#include <cmath>
#include <utility>

#include "solve/block_problem.h"

namespace allot::internal {

// What a block is. Rates, and what is asked, are scaled so that the largest rate is 1.
template <int kTypes>
struct GivenBlock {
  using PerType = std::array<double, kTypes>;
  double use = 1;
  double scale = 1;  // of the rates
  PerType rate{};
  PerType gain{};
  PerType open{};  // 1: a variable, 0: none
  bool asks = false;
  double need = 0;
  double slope = 0;
  FinishGoal goal;
};

// Where the method is. The slacks u, w, z stand against the prices a, b, p.
template <int kTypes>
struct PointOfBlock {
  using PerType = std::array<double, kTypes>;
  PerType x{};
  PerType sx{};  // reduced costs
  double u = 0;  // idle time
  double a = 0;  // price of time
  double w = 0;  // rate above what is asked
  double b = 0;  // price of need

  void Move(const PointOfBlock& step, double primal, double dual) {
    for (int g = 0; g < kTypes; ++g) {
      x[g] += primal * step.x[g];
      sx[g] += dual * step.sx[g];
    }
    u += primal * step.u;
    w += primal * step.w;
    a += dual * step.a;
    b += dual * step.b;
  }
  // The sum of its complementary products after that.
  double ProductAfter(const PointOfBlock& step, double primal, double dual) const {
    PointOfBlock after = *this;
    after.Move(step, primal, dual);
    double sum = after.u * after.a + after.w * after.b;
    for (int g = 0; g < kTypes; ++g) sum += after.x[g] * after.sx[g];
    return sum;
  }
};

// What one iteration makes of it.
template <int kTypes>
struct WorkOfBlock {
  using PerType = std::array<double, kTypes>;
  PerType res{};  // of the reduced costs
  PerType d{};    // x / sx
  PerType q0{};
  PerType q1{};
  std::array<PerType, kTypes> m{};
  PerType e{};
  double rest_time = 0;
  double rest_need = 0;
  double slope = 0;  // of what is asked, in the level
  double du = 0;     // u / a
  double dw = 0;     // w / b
  double i11 = 0;
  double i12 = 0;
  double i22 = 0;
  double h0 = 0;
  double h1 = 0;
};

// What is asked of a block at a level, and its first two derivatives.
struct AskedRate {
  double value = 0;
  double first = 0;
  double second = 0;
};
inline AskedRate AskedByFinish(const FinishGoal& goal, double ratio) {
  const double left = goal.due * ratio - goal.elapsed;
  const double value = goal.work / left;
  const double relative = goal.due / left;
  return {value, -value * relative, 2 * value * relative * relative};
}

// A dense system of few equations: Gauss with row pivots, in place.
template <int kSize>
struct SmallSystem {
  std::array<std::array<double, kSize>, kSize> a{};
  std::array<int, kSize> pivot{};

  // False: it is singular.
  bool Factor() {
    for (int c = 0; c < kSize; ++c) {
      int best = c;
      for (int r = c + 1; r < kSize; ++r) {
        if (std::abs(a[r][c]) > std::abs(a[best][c])) best = r;
      }
      pivot[c] = best;
      if (!(std::abs(a[best][c]) > 0)) return false;
      std::swap(a[best], a[c]);
      for (int r = c + 1; r < kSize; ++r) {
        a[r][c] /= a[c][c];
        for (int k = c + 1; k < kSize; ++k) a[r][k] -= a[r][c] * a[c][k];
      }
    }
    return true;
  }
  // The right side becomes the solution.
  void Solve(std::array<double, kSize>* side) const {
    auto& h = *side;
    for (int c = 0; c < kSize; ++c) std::swap(h[c], h[pivot[c]]);
    for (int c = 0; c < kSize; ++c) {
      for (int r = c + 1; r < kSize; ++r) h[r] -= a[r][c] * h[c];
    }
    for (int c = kSize - 1; c >= 0; --c) {
      for (int k = c + 1; k < kSize; ++k) h[c] -= a[c][k] * h[k];
      h[c] /= a[c][c];
    }
  }
};

// With B the 2x2 matrix of the block's rows (time, need) and c_g its columns in capacity row g:
// q = B^-1 c, m = use^2 d - c' B^-1 c.
template <int kTypes>
void Eliminate(const GivenBlock<kTypes>& given, const PointOfBlock<kTypes>& point,
               WorkOfBlock<kTypes>* work) {
  const auto& t = given.rate;
  auto& d = work->d;
  double sum = 0;
  double sum_t = 0;
  double sum_tt = 0;
  for (int g = 0; g < kTypes; ++g) {
    d[g] = point.x[g] / point.sx[g];
    sum += d[g];
    sum_t += d[g] * t[g];
    sum_tt += d[g] * t[g] * t[g];
  }
  const double du = work->du = point.u / point.a;
  const double use2 = given.use * given.use;
  if (!given.asks) {
    const double inverse = 1 / (sum + du);
    work->i11 = inverse;
    work->i12 = work->i22 = work->dw = 0;
    for (int g = 0; g < kTypes; ++g) {
      work->q0[g] = given.use * d[g] * inverse;
      work->q1[g] = 0;
      double others = du;
      for (int h = 0; h < kTypes; ++h) others += h == g ? 0 : d[h];
      work->m[g][g] = use2 * d[g] * others * inverse;
      for (int h = 0; h < g; ++h) {
        work->m[g][h] = work->m[h][g] = -use2 * d[g] * d[h] * inverse;
      }
    }
    return;
  }
  const double dw = work->dw = point.w / point.b;
  double cross = 0;
  for (int g = 0; g < kTypes; ++g) {
    for (int h = 0; h < g; ++h) cross += d[g] * d[h] * (t[g] - t[h]) * (t[g] - t[h]);
  }
  const double inverse = 1 / (cross + du * sum_tt + dw * sum + du * dw);
  work->i11 = (sum_tt + dw) * inverse;
  work->i12 = -sum_t * inverse;
  work->i22 = (sum + du) * inverse;
  for (int g = 0; g < kTypes; ++g) {
    double v0 = dw;
    double v1 = du * t[g];
    double rest = du * dw;  // the determinant without type g
    for (int h = 0; h < kTypes; ++h) {
      const double apart = t[h] - t[g];
      v0 += d[h] * t[h] * apart;
      v1 -= d[h] * apart;
      if (h == g) continue;
      rest += d[h] * (du * t[h] * t[h] + dw);
      for (int k = 0; k < h; ++k) {
        if (k != g) rest += d[h] * d[k] * (t[h] - t[k]) * (t[h] - t[k]);
      }
    }
    const double scale = given.use * d[g] * inverse;
    work->q0[g] = scale * v0;
    work->q1[g] = scale * v1;
    work->m[g][g] = given.use * scale * rest;
    for (int h = 0; h < g; ++h) {
      double both = dw + du * t[g] * t[h];
      for (int k = 0; k < kTypes; ++k) both += d[k] * (t[k] - t[g]) * (t[k] - t[h]);
      work->m[g][h] = work->m[h][g] = -given.use * scale * d[h] * both;
    }
  }
}

}  // namespace allot::internal
