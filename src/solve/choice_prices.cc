#include "solve/choice_prices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/index.h"

namespace allot {
namespace {

using Prices = std::array<double, kMostChoiceTypes>;

class ChoiceDual {
 public:
  explicit ChoiceDual(const MultipleChoiceProblem& problem)
      : problem_(problem), types_(problem.capacity.size()) {
    KeepHulls();
  }

  ChoicePrices Solve() {
    Prices price{};
    if (options_.empty()) return {std::vector<double>(types_, 0.0), 0};
    best_bound_ = std::numeric_limits<double>::infinity();
    if (types_ == 1) {
      Bisect();
    } else {
      for (std::size_t t = 0; t < types_; ++t) price[t] = 0.5 * steepest_;
      for (double smoothing = 0.3; smoothing > 2e-5; smoothing /= 3) {
        Descend(smoothing * scale_, &price);
      }
    }
    ChoicePrices answer;
    answer.price.assign(best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(types_));
    answer.bound = best_bound_;
    return answer;
  }

 private:
  struct Point {
    double gpus;
    double gain;
    std::size_t type;
  };

  // At no price does a job have an option below the concave hull of its options of the type.
  void KeepHulls() {
    std::vector<ChoiceOption> sorted;
    first_.push_back(0);
    double sum = 0;
    double count = 0;
    for (std::size_t job = 0; job < problem_.jobs(); ++job) {
      sorted.clear();
      for (const ChoiceOption& option : problem_.of(job)) {
        if (option.gain > 0 && option.gpus <= problem_.capacity[At(option.type)]) {
          sorted.push_back(option);
        }
      }
      std::sort(sorted.begin(), sorted.end(), [](const ChoiceOption& a, const ChoiceOption& b) {
        if (a.type != b.type) return a.type < b.type;
        return a.gpus != b.gpus ? a.gpus < b.gpus : a.gain > b.gain;
      });
      std::size_t of_type = options_.size();
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (i == 0 || sorted[i].type != sorted[i - 1].type) of_type = options_.size();
        const Point next{static_cast<double>(sorted[i].gpus), sorted[i].gain, At(sorted[i].type)};
        if (options_.size() > of_type && next.gain <= options_.back().gain) continue;
        while (options_.size() > of_type && Slope(of_type, next) >= Slope(of_type)) {
          options_.pop_back();
        }
        options_.push_back(next);
      }
      double best = 0;
      for (std::size_t i = first_.back(); i < options_.size(); ++i) {
        best = std::max(best, options_[i].gain);
        steepest_ = std::max(steepest_, options_[i].gain / options_[i].gpus);
      }
      if (best > 0) {
        sum += best;
        ++count;
      }
      first_.push_back(options_.size());
    }
    scale_ = count > 0 ? sum / count : 1;
  }
  // From the last point but one of a hull, or from nothing, to its last, and from its last to
  // `next`.
  double Slope(std::size_t of_type) const {
    const Point& last = options_.back();
    if (options_.size() == of_type + 1) return last.gain / last.gpus;
    const Point& before = options_[options_.size() - 2];
    return (last.gain - before.gain) / (last.gpus - before.gpus);
  }
  double Slope(std::size_t, const Point& next) const {
    const Point& last = options_.back();
    return (next.gain - last.gain) / (next.gpus - last.gpus);
  }

  // D, and by how many GPUs the least use of what is best exceeds the first type.
  double Exact(const Prices& price, double* excess = nullptr) {
    double value = 0;
    double used = 0;
    for (std::size_t t = 0; t < types_; ++t) value += price[t] * problem_.capacity[t];
    for (std::size_t job = 0; job + 1 < first_.size(); ++job) {
      double best = 0;
      double gpus = 0;
      for (std::size_t i = first_[job]; i < first_[job + 1]; ++i) {
        const double gain = options_[i].gain - price[options_[i].type] * options_[i].gpus;
        if (gain <= best) continue;
        best = gain;
        gpus = options_[i].gpus;
      }
      value += best;
      used += gpus;
    }
    if (excess != nullptr) *excess = used - problem_.capacity.front();
    if (value < best_bound_) {
      best_bound_ = value;
      best_ = price;
    }
    return value;
  }

  void Bisect() {
    Prices price{};
    double excess = 0;
    (void)Exact(price, &excess);
    if (excess <= 0) return;
    double low = 0;
    double high = steepest_;
    for (int i = 0; i < 60 && low < high; ++i) {
      price[0] = (low + high) / 2;
      (void)Exact(price, &excess);
      (excess > 0 ? low : high) = price[0];
      if (excess == 0) return;
    }
    price[0] = high;
    (void)Exact(price);
  }

  // Each maximum smoothed to s ln sum exp(x / s): value, slope, curvature.
  double Smooth(const Prices& price, double s, Prices* slope,
                std::array<Prices, kMostChoiceTypes>* curvature) {
    double value = 0;
    for (std::size_t t = 0; t < types_; ++t) {
      value += price[t] * problem_.capacity[t];
      (*slope)[t] = problem_.capacity[t];
      (*curvature)[t].fill(0);
    }
    for (std::size_t job = 0; job + 1 < first_.size(); ++job) {
      double best = 0;
      for (std::size_t i = first_[job]; i < first_[job + 1]; ++i) {
        best = std::max(best, options_[i].gain - price[options_[i].type] * options_[i].gpus);
      }
      double sum = std::exp(-best / s);
      Prices use{};
      Prices square{};
      for (std::size_t i = first_[job]; i < first_[job + 1]; ++i) {
        const Point& o = options_[i];
        const double below = (o.gain - price[o.type] * o.gpus - best) / s;
        if (below < -40) continue;
        const double weight = std::exp(below);
        sum += weight;
        use[o.type] += weight * o.gpus;
        square[o.type] += weight * o.gpus * o.gpus;
      }
      value += best + s * std::log(sum);
      for (std::size_t t = 0; t < types_; ++t) {
        (*slope)[t] -= use[t] / sum;
        (*curvature)[t][t] += square[t] / (s * sum);
        for (std::size_t u = 0; u <= t; ++u) {
          (*curvature)[t][u] -= use[t] * use[u] / (s * sum * sum);
        }
      }
    }
    return value;
  }

  void Descend(double s, Prices* price) {
    constexpr int kMostSteps = 12;
    Prices slope{};
    std::array<Prices, kMostChoiceTypes> curvature{};
    double here = Smooth(*price, s, &slope, &curvature);
    double damping = 1e-6;
    for (int step = 0; step < kMostSteps; ++step) {
      const Prices direction = Newton(*price, slope, curvature, damping);
      double predicted = 0;
      Prices next = *price;
      for (std::size_t t = 0; t < types_; ++t) {
        next[t] = std::clamp((*price)[t] + direction[t], 0.0, steepest_);
        predicted += slope[t] * (next[t] - (*price)[t]);
      }
      if (!(predicted < -1e-6 * s)) break;
      Prices there_slope{};
      std::array<Prices, kMostChoiceTypes> there_curvature{};
      const double there = Smooth(next, s, &there_slope, &there_curvature);
      if (there > here + 1e-4 * predicted) {
        damping = std::max(1e-3, 10 * damping);
        continue;
      }
      damping = std::max(1e-6, damping / 10);
      *price = next;
      here = there;
      slope = there_slope;
      curvature = there_curvature;
    }
    (void)Exact(*price);
  }

  // Over prices that are not held at a bound. Damping is relative to the diagonal.
  Prices Newton(const Prices& price, const Prices& slope,
                const std::array<Prices, kMostChoiceTypes>& curvature, double damping) const {
    std::array<std::size_t, kMostChoiceTypes> place{};
    std::size_t n = 0;
    double largest = 0;
    for (std::size_t t = 0; t < types_; ++t) {
      if (slope[t] > 0 ? price[t] <= 0 : price[t] >= steepest_) continue;
      place[n++] = t;
      largest = std::max(largest, curvature[t][t]);
    }
    const double least = 1e-9 * largest + 1e-30;
    std::array<Prices, kMostChoiceTypes> root{};
    Prices x{};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double left = curvature[place[i]][place[j]];
        if (i == j) left += damping * left + least;
        for (std::size_t k = 0; k < j; ++k) left -= root[i][k] * root[j][k];
        root[i][j] = i == j ? std::sqrt(std::max(left, least)) : left / root[j][j];
      }
      x[i] = -slope[place[i]];
      for (std::size_t k = 0; k < i; ++k) x[i] -= root[i][k] * x[k];
      x[i] /= root[i][i];
    }
    Prices direction{};
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) x[i] -= root[k][i] * x[k];
      x[i] /= root[i][i];
      direction[place[i]] = x[i];
    }
    return direction;
  }

  const MultipleChoiceProblem& problem_;
  std::size_t types_;
  std::vector<Point> options_;  // on the hulls, > 0
  std::vector<std::size_t> first_;
  double scale_ = 1;     // mean over jobs of the best gain
  double steepest_ = 0;  // gain per GPU: prices are not above it
  Prices best_{};
  double best_bound_ = 0;
};

}  // namespace

ChoicePrices FindChoicePrices(const MultipleChoiceProblem& problem) {
  return ChoiceDual(problem).Solve();
}

}  // namespace allot
