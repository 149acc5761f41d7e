#include "solve/block_interior_point.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "solve/block_elimination.h"

namespace allot::internal {
namespace {

constexpr int kMostIterations = 100;
constexpr double kAim = 1e-11;  // stop here; kBlockTolerance is what must be reached
constexpr int kPatience = 4;    // iterations without progress before giving up on kAim

// No step is longer than 1: from here on steps are all the same.
constexpr double kLongStep = 2;

// The least step to the boundary of x + step dx >= 0. Most do not limit it, and need no division.
inline void Limit(double x, double dx, double* step) {
  if (x > *step * -dx * (1 + 1e-15)) return;
  if (dx < 0) *step = std::min(*step, -x / dx);
}

template <int kTypes>
class InteriorPoint {
 public:
  InteriorPoint(const BlockProblem& problem, BlockGoal goal, std::span<const FinishGoal> goals)
      : goal_(goal), count_(problem.blocks.size()) {
    Read(problem, goals);
    Begin();
  }

  InteriorAnswer Solve(std::size_t types) {
    InteriorAnswer answer;
    double best = std::numeric_limits<double>::infinity();
    int without_progress = 0;
    for (int i = 0; i < kMostIterations; ++i) {
      const double error = Residuals();
      answer.iterations = i;
      if (!std::isfinite(error)) break;
      if (error < best) {
        best = error;
        without_progress = 0;
        Keep(types, &answer);
      } else if (++without_progress >= kPatience && best < kBlockTolerance) {
        break;
      }
      if (error < kAim) break;
      if (!Factor()) break;
      Advance();
    }
    answer.error = best;
    answer.converged = best < kBlockTolerance;
    return answer;
  }

 private:
  using PerType = std::array<double, kTypes>;
  using Given = GivenBlock<kTypes>;
  using Point = PointOfBlock<kTypes>;
  using Work = WorkOfBlock<kTypes>;

  AskedRate AskedOf(const Given& given, double level) const {
    if (goal_ == BlockGoal::kFinish) return AskedByFinish(given.goal, level);
    return {given.need + given.slope * level, given.slope, 0};
  }

  void Read(const BlockProblem& problem, std::span<const FinishGoal> goals) {
    const std::size_t types = problem.types();
    capacity_.fill(1);
    std::copy(problem.capacity.begin(), problem.capacity.end(), capacity_.begin());
    for (double& c : capacity_) {
      if (!(c > 0)) c = 1;  // no variable is there
    }
    given_.resize(count_);
    point_.resize(count_);
    step_.resize(count_);
    work_.resize(count_);
    double largest_gain = 0;
    if (goal_ == BlockGoal::kGain) {
      for (const double gain : problem.gain) largest_gain = std::max(largest_gain, std::abs(gain));
    }
    if (largest_gain > 0) price_scale_ = largest_gain;
    for (std::size_t i = 0; i < count_; ++i) {
      Given& given = given_[i];
      const BlockProblem::Block& block = problem.blocks[i];
      given.use = block.use;
      double largest = 0;
      for (std::size_t g = 0; g < types; ++g) {
        const double rate = problem.rate[i * types + g];
        if (!(rate > 0) || !(problem.capacity[g] > 0)) continue;
        given.open[g] = 1;
        given.rate[g] = rate;
        largest = std::max(largest, rate);
        if (largest_gain > 0) given.gain[g] = problem.gain[i * types + g] / largest_gain;
      }
      given.scale = largest > 0 ? 1 / largest : 1;
      for (double& rate : given.rate) rate *= given.scale;
      if (goal_ == BlockGoal::kFinish) {
        given.goal = goals[i];
        given.goal.work *= given.scale;
      } else {
        given.need = block.need * given.scale;
        given.slope = goal_ == BlockGoal::kLevel ? block.slope * given.scale : 0;
      }
      given.asks = goal_ == BlockGoal::kFinish || block.need > 0 || given.slope > 0;
    }
  }

  // An even division of the cluster, and prices of one size.
  void Begin() {
    double used = 0;
    for (const Given& given : given_) used += given.use;
    double all = 0;
    for (const double c : capacity_) all += c;
    const double part = std::min(1.0, all / used);
    if (goal_ == BlockGoal::kLevel) ScaleLevel(part, all);
    const double share = 0.9 * part;
    for (std::size_t i = 0; i < count_; ++i) {
      const Given& given = given_[i];
      Point& point = point_[i];
      double theta = 0;
      for (int g = 0; g < kTypes; ++g) {
        point.x[g] = given.open[g] * std::max(share * capacity_[g] / all, 1e-4);
        theta += given.rate[g] * point.x[g];
      }
      point.u = 1 - share;
      point.w = 0.5 * theta;
    }
    level_ = 0;
    if (goal_ == BlockGoal::kFinish) BeginAtRatio();
    double slopes = 0;
    for (const Given& given : given_) slopes += std::abs(AskedOf(given, level_).first);
    const double price = has_level() ? 1 / std::max(slopes, 1e-12) : 1;
    for (std::size_t i = 0; i < count_; ++i) {
      Point& point = point_[i];
      point.a = price;
      point.b = given_[i].asks ? price : 0;
      for (int g = 0; g < kTypes; ++g) point.sx[g] = given_[i].open[g] > 0 ? price : 1;
    }
    for (int g = 0; g < kTypes; ++g) {
      z_[g] = 0.1 * capacity_[g] + 1e-3;
      p_[g] = has_level() ? 1 / all : 1;
    }
  }

  // So that the level is about 1.
  void ScaleLevel(double part, double all) {
    double level = std::numeric_limits<double>::infinity();
    for (const Given& given : given_) {
      if (!(given.slope > 0)) continue;
      double theta = 0;
      for (int g = 0; g < kTypes; ++g) theta += given.rate[g] * part * capacity_[g] / all;
      level = std::min(level, theta / given.slope);
    }
    level_scale_ = level;
    for (Given& given : given_) given.slope *= level_scale_;
  }

  // One that half of the even division keeps.
  void BeginAtRatio() {
    level_ = 1e-12;
    for (std::size_t i = 0; i < count_; ++i) {
      const FinishGoal& goal = given_[i].goal;
      const double seconds = goal.elapsed + goal.work / std::max(point_[i].w, 1e-300);
      level_ = std::max(level_, seconds / goal.due);
    }
  }

  bool has_level() const { return goal_ != BlockGoal::kGain; }

  // Sets all residuals; the largest of them and of the relative gap.
  double Residuals() {
    double products = 0;
    double gain = 0;
    double primal = 0;
    pairs_ = kTypes;
    rest_level_ = goal_ == BlockGoal::kLevel ? 1 : goal_ == BlockGoal::kFinish ? -1 : 0;
    curvature_ = 0;
    for (int g = 0; g < kTypes; ++g) {
      rest_type_[g] = capacity_[g] - z_[g];
      products += z_[g] * p_[g];
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const Given& given = given_[i];
      const Point& point = point_[i];
      Work& work = work_[i];
      double time = 1 - point.u;
      double theta = 0;
      for (int g = 0; g < kTypes; ++g) {
        const double x = point.x[g];
        time -= x;
        theta += given.rate[g] * x;
        gain += given.gain[g] * x;
        rest_type_[g] -= given.use * x;
        products += x * point.sx[g];
        pairs_ += given.open[g];
        const double cost = given.use * p_[g];
        const double worth = given.rate[g] * point.b;
        double res = cost + point.a - worth - given.gain[g] - point.sx[g];
        // What rounding leaves is no residual.
        const double size = cost + point.a + worth + std::abs(given.gain[g]);
        if (std::abs(res) < 4e-15 * size) res = 0;
        work.res[g] = given.open[g] * res;
      }
      products += point.u * point.a;
      pairs_ += 1;
      work.rest_time = time;
      primal = std::max(primal, std::abs(time));
      work.rest_need = 0;
      work.slope = 0;
      if (!given.asks) continue;
      const AskedRate asked = AskedOf(given, level_);
      work.rest_need = asked.value - theta + point.w;
      work.slope = asked.first;
      primal = std::max(primal, std::abs(work.rest_need));
      curvature_ += point.b * asked.second;
      rest_level_ -= point.b * asked.first;
      products += point.w * point.b;
      pairs_ += 1;
    }
    for (int g = 0; g < kTypes; ++g) {
      primal = std::max(primal, std::abs(rest_type_[g]) / capacity_[g]);
    }
    mu_ = products / pairs_;
    const double objective = goal_ == BlockGoal::kLevel    ? std::max(1.0, std::abs(level_))
                             : goal_ == BlockGoal::kFinish ? level_
                                                           : std::max(std::abs(gain), 1e-3);
    return std::max({products / objective, primal, 1e-4 * std::abs(rest_level_)});
  }

  // Eliminates the blocks and factors what remains. False: it is singular.
  bool Factor() {
    core_.a = {};
    for (int g = 0; g < kTypes; ++g) core_.a[g][g] = z_[g] / p_[g];
    core_.a[kTypes][kTypes] = has_level() ? curvature_ : 1;
    for (std::size_t i = 0; i < count_; ++i) {
      Eliminate(given_[i], point_[i], &work_[i]);
      AddToCore(work_[i]);
    }
    return core_.Factor();
  }

  void AddToCore(const Work& work) {
    for (int g = 0; g < kTypes; ++g) {
      for (int h = 0; h < kTypes; ++h) core_.a[g][h] += work.m[g][h];
      core_.a[g][kTypes] += work.q1[g] * work.slope;
      core_.a[kTypes][g] -= work.q1[g] * work.slope;
    }
    core_.a[kTypes][kTypes] += work.slope * work.slope * work.i22;
  }

  // Newton's direction towards products of `target` into step_; with `corrected`, the products of
  // the direction that stands there are taken off first.
  void Direct(double target, bool corrected) {
    std::array<double, kTypes + 1> rhs{};
    PerType cz{};
    const double twice = corrected ? 1 : 0;
    for (int g = 0; g < kTypes; ++g) {
      cz[g] = target - z_[g] * p_[g] - twice * dz_[g] * dp_[g];
      rhs[g] = rest_type_[g] - cz[g] / p_[g];
    }
    rhs[kTypes] = rest_level_;
    for (std::size_t i = 0; i < count_; ++i) {
      const Given& given = given_[i];
      const Point& point = point_[i];
      const Point& old = step_[i];
      Work& work = work_[i];
      double h0 = work.rest_time;
      double h1 = work.rest_need;
      for (int g = 0; g < kTypes; ++g) {
        const double c =
            given.open[g] * target - point.x[g] * point.sx[g] - twice * old.x[g] * old.sx[g];
        const double e = c / point.sx[g] - work.d[g] * work.res[g];
        work.e[g] = e;
        h0 -= e;
        h1 -= given.rate[g] * e;
        rhs[g] -= given.use * e;
      }
      h0 -= (target - point.u * point.a - twice * old.u * old.a) / point.a;
      if (given.asks) {
        h1 += (target - point.w * point.b - twice * old.w * old.b) / point.b;
      } else {
        h1 = 0;
      }
      work.h0 = h0;
      work.h1 = h1;
      for (int g = 0; g < kTypes; ++g) rhs[g] -= work.q0[g] * h0 + work.q1[g] * h1;
      rhs[kTypes] -= work.slope * (work.i12 * h0 + work.i22 * h1);
    }
    core_.Solve(&rhs);
    dlevel_ = has_level() ? rhs[kTypes] : 0;
    primal_step_ = dual_step_ = kLongStep;
    for (int g = 0; g < kTypes; ++g) {
      dp_[g] = -rhs[g];
      dz_[g] = (cz[g] - z_[g] * dp_[g]) / p_[g];
      Limit(z_[g], dz_[g], &primal_step_);
      Limit(p_[g], dp_[g], &dual_step_);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      StepOf(given_[i], point_[i], work_[i], target, twice, rhs, &step_[i]);
    }
  }

  void StepOf(const Given& given, const Point& point, const Work& work, double target, double twice,
              const std::array<double, kTypes + 1>& fall, Point* step) {
    const double h0 = work.h0;
    const double h1 = given.asks ? work.h1 + work.slope * dlevel_ : 0;
    double y0 = work.i11 * h0 + work.i12 * h1;
    double y1 = work.i12 * h0 + work.i22 * h1;
    const double inverse = 1 / given.use;
    for (int g = 0; g < kTypes; ++g) {
      y0 -= work.q0[g] * fall[g];
      y1 -= work.q1[g] * fall[g];
      double change = work.q0[g] * h0 + work.q1[g] * h1;
      for (int h = 0; h < kTypes; ++h) change += work.m[g][h] * fall[h];
      const double c =
          given.open[g] * target - point.x[g] * point.sx[g] - twice * step->x[g] * step->sx[g];
      const double dx = work.e[g] + change * inverse;
      const double ds = given.open[g] > 0 ? (c - point.sx[g] * dx) / point.x[g] : 0;
      step->x[g] = dx;
      step->sx[g] = ds;
      Limit(point.x[g], dx, &primal_step_);
      Limit(point.sx[g], ds, &dual_step_);
    }
    const double cu = target - point.u * point.a - twice * step->u * step->a;
    step->a = -y0;
    step->u = cu / point.a + work.du * y0;
    Limit(point.u, step->u, &primal_step_);
    Limit(point.a, step->a, &dual_step_);
    if (!given.asks) return;
    const double cw = target - point.w * point.b - twice * step->w * step->b;
    step->b = y1;
    step->w = cw / point.b - work.dw * y1;
    Limit(point.w, step->w, &primal_step_);
    Limit(point.b, step->b, &dual_step_);
  }

  void Advance() {
    Direct(0, false);
    const double ahead = MeanProductAfter(std::min(1.0, primal_step_), std::min(1.0, dual_step_));
    const double centring = std::min(1.0, std::pow(ahead / mu_, 3));
    Direct(centring * mu_, true);
    const double near = std::clamp(1 - mu_, 0.99, 0.9995);
    double primal = std::min(1.0, near * primal_step_);
    double dual = std::min(1.0, near * dual_step_);
    if (goal_ == BlockGoal::kFinish) primal = dual = InsideFinish(std::min(primal, dual));
    for (std::size_t i = 0; i < count_; ++i) point_[i].Move(step_[i], primal, dual);
    for (int g = 0; g < kTypes; ++g) {
      z_[g] += primal * dz_[g];
      p_[g] += dual * dp_[g];
    }
    level_ += primal * dlevel_;
  }

  double MeanProductAfter(double primal, double dual) const {
    double sum = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      sum += point_[i].ProductAfter(step_[i], primal, dual);
    }
    for (int g = 0; g < kTypes; ++g) {
      sum += (z_[g] + primal * dz_[g]) * (p_[g] + dual * dp_[g]);
    }
    return sum / pairs_;
  }

  // A step that keeps the ratio above what time has already made of it.
  double InsideFinish(double step) const {
    for (const Given& given : given_) {
      const double room = level_ - given.goal.elapsed / given.goal.due;
      if (step * -dlevel_ > 0.95 * room) step = 0.95 * room / -dlevel_;
    }
    return step;
  }

  void Keep(std::size_t types, InteriorAnswer* answer) const {
    answer->level = level_ * level_scale_;
    answer->unit = level_scale_;
    answer->share.resize(count_ * types);
    answer->need_price.resize(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t g = 0; g < types; ++g) answer->share[i * types + g] = point_[i].x[g];
      answer->need_price[i] = point_[i].b * given_[i].scale * price_scale_;
    }
    answer->type_price.assign(p_.begin(), p_.begin() + static_cast<std::ptrdiff_t>(types));
    for (double& price : answer->type_price) price *= price_scale_;
  }

  BlockGoal goal_;
  std::size_t count_;
  double level_scale_ = 1;
  double price_scale_ = 1;  // of the gain
  PerType capacity_{};
  std::vector<Given> given_;
  std::vector<Point> point_;
  std::vector<Point> step_;
  std::vector<Work> work_;
  PerType z_{};
  PerType p_{};
  PerType dz_{};
  PerType dp_{};
  double level_ = 0;
  double dlevel_ = 0;
  double mu_ = 0;
  double pairs_ = 0;
  double curvature_ = 0;
  double rest_level_ = 0;
  PerType rest_type_{};
  SmallSystem<kTypes + 1> core_;
  double primal_step_ = 1;
  double dual_step_ = 1;
};

template <int kTypes>
InteriorAnswer Run(const BlockProblem& problem, BlockGoal goal, std::span<const FinishGoal> goals) {
  return InteriorPoint<kTypes>(problem, goal, goals).Solve(problem.types());
}

}  // namespace

InteriorAnswer SolveInterior(const BlockProblem& problem, BlockGoal goal,
                             std::span<const FinishGoal> goals) {
  ALLOT_CHECK_LE(problem.types(), kMostInteriorTypes);
  switch (problem.types()) {
    case 1:
      return Run<1>(problem, goal, goals);
    case 2:
      return Run<2>(problem, goal, goals);
    case 3:
      return Run<3>(problem, goal, goals);
    case 4:
      return Run<4>(problem, goal, goals);
    case 5:
    case 6:
      return Run<6>(problem, goal, goals);
    default:
      return Run<8>(problem, goal, goals);
  }
}

}  // namespace allot::internal
