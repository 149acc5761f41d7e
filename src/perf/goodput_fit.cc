#include "perf/goodput_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/error.h"

namespace allot {
namespace {

constexpr double kLeast = 1e-8;  // of the six times, and what pins them
constexpr double kMost = 400;    // s
constexpr double kMostGamma = 10;
constexpr double kGammaWeight = 1e-3;
constexpr double kSlopeWeight = 1e-2;
constexpr double kUnseen = 1.1;  // several nodes to one, where they were never seen

// Places in the vectors below: logarithms of six times, then gamma itself.
enum Parameter : std::size_t { kAlphaC, kBetaC, kAlphaN, kBetaN, kAlphaR, kBetaR, kGamma, kCount };

using Vector = std::array<double, kCount>;
using Matrix = std::array<Vector, kCount>;

Vector Logarithms(const StepTiming& timing) {
  Vector z = {timing.alpha_c, timing.beta_c, timing.alpha_n, timing.beta_n,
              timing.alpha_r, timing.beta_r, timing.gamma};
  for (std::size_t i = 0; i < kGamma; ++i) z[i] = std::log(std::clamp(z[i], kLeast, kMost));
  z[kGamma] = std::clamp(z[kGamma], 1.0, kMostGamma);
  return z;
}

StepTiming Times(const Vector& z) {
  Vector p;
  for (std::size_t i = 0; i < kGamma; ++i) p[i] = std::exp(z[i]);
  return {p[kAlphaC], p[kBetaC], p[kAlphaN], p[kBetaN], p[kAlphaR], p[kBetaR], z[kGamma]};
}

struct Seen {
  double local_batch;
  double beyond_two;  // GPUs
  Parameter alpha;    // of its synchronisation; kCount: one GPU, none
  double ln_gradient;
  double ln_iteration;
};

// A value with its derivatives, curvature without the second derivatives of the residuals.
struct Expansion {
  double value = 0;
  Vector slope{};
  Matrix curvature{};
};

// sqrt(mean of squares + smoothing^2) of the residuals added.
class Norm {
 public:
  template <std::size_t kPlaces>
  void Add(double residual, const std::array<Parameter, kPlaces>& places,
           const std::array<double, kPlaces>& derivatives) {
    squares_ += residual * residual;
    for (std::size_t i = 0; i < kPlaces; ++i) {
      slope_[places[i]] += residual * derivatives[i];
      for (std::size_t j = 0; j <= i; ++j) {
        products_[places[i]][places[j]] += derivatives[i] * derivatives[j];
      }
    }
  }
  void AddTo(double count, double smoothing, Expansion* sum) const {
    const double norm = std::sqrt(squares_ / count + smoothing * smoothing);
    sum->value += norm;
    if (norm == 0) return;
    const double scale = 1 / (count * norm);
    for (std::size_t i = 0; i < kCount; ++i) {
      sum->slope[i] += slope_[i] * scale;
      for (std::size_t j = 0; j <= i; ++j) {
        sum->curvature[i][j] +=
            products_[i][j] * scale - slope_[i] * slope_[j] * scale * scale / norm;
      }
    }
  }

 private:
  double squares_ = 0;
  Vector slope_{};
  Matrix products_{};
};

class TimingProblem {
 public:
  explicit TimingProblem(std::span<const TimingObservation> observations) {
    if (observations.empty()) {
      throw DataError("a fit of iteration times needs at least one observation, got 0");
    }
    seen_.reserve(observations.size());
    for (const TimingObservation& o : observations) {
      CheckObservation(o);
      const Parameter alpha = o.several_nodes ? kAlphaN : o.gpus > 1 ? kAlphaR : kCount;
      seen_.push_back({o.local_batch, std::max<double>(o.gpus - 2, kLeast), alpha,
                       std::log(o.gradient), std::log(o.iteration)});
    }
    Pin(observations);
    Guess(observations);
  }

  // Pinned parameters of `z` are set.
  TimingFit Fit(Vector z) const {
    for (std::size_t i = 0; i < kCount; ++i) z[i] = free_[i] ? z[i] : pinned_[i];
    for (const double smoothing : {1e-3, 3e-5}) Descend(smoothing, &z);
    if (!several_nodes_) {
      z[kAlphaN] = std::max(z[kAlphaN], z[kAlphaR] + std::log(kUnseen));
      z[kBetaN] = std::max(z[kBetaN], z[kBetaR] + std::log(kUnseen));
    }
    return {Times(z), At(z, 0).value};
  }

  TimingFit FitCold() const {
    const TimingFit guessed = Fit(guess_);
    // Where the artifact begins.
    const TimingFit usual = Fit(Logarithms({0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.001}));
    return guessed.loss <= usual.loss ? guessed : usual;
  }

  Expansion At(const Vector& z, double smoothing) const {
    const StepTiming t = Times(z);
    const Vector times = {t.alpha_c, t.beta_c, t.alpha_n, t.beta_n, t.alpha_r, t.beta_r};
    const double gamma = t.gamma;
    Norm gradient;
    Norm iteration;
    for (const Seen& seen : seen_) {
      const double samples = t.beta_c * seen.local_batch;
      const double ln_gradient = std::log(t.alpha_c + samples);
      const double of_samples = samples / (t.alpha_c + samples);
      const double of_constant = 1 - of_samples;
      gradient.Add<2>(ln_gradient - seen.ln_gradient, {kAlphaC, kBetaC}, {of_constant, of_samples});
      double synchronisation = kLeast + kLeast * kLeast;
      double of_slope = 0;
      Parameter alpha = kAlphaR;
      if (seen.alpha != kCount) {
        alpha = seen.alpha;
        const double slope = times[alpha + 1] * seen.beyond_two;
        synchronisation = times[alpha] + slope;
        of_slope = slope / synchronisation;
      }
      const double ln_sync = std::log(synchronisation);
      // ln (T_grad^gamma + T_sync^gamma)^(1/gamma) from the larger of both.
      const double apart = std::abs(ln_gradient - ln_sync);
      const double less = std::exp(-gamma * apart);
      const double ln_sum = std::log1p(less);
      const double of_smaller = less / (1 + less);
      const bool computes = ln_gradient >= ln_sync;
      const double ln_iteration = std::max(ln_gradient, ln_sync) + ln_sum / gamma;
      const double of_gradient = computes ? 1 - of_smaller : of_smaller;
      const double of_sync = seen.alpha == kCount ? 0 : 1 - of_gradient;
      const double by_gamma = -(of_smaller * apart + ln_sum / gamma) / gamma;
      iteration.Add<5>(ln_iteration - seen.ln_iteration,
                       {kAlphaC, kBetaC, alpha, static_cast<Parameter>(alpha + 1), kGamma},
                       {of_gradient * of_constant, of_gradient * of_samples,
                        of_sync * (1 - of_slope), of_sync * of_slope, by_gamma});
    }
    Expansion sum;
    const auto count = static_cast<double>(seen_.size());
    gradient.AddTo(count, smoothing, &sum);
    iteration.AddTo(count, smoothing, &sum);
    sum.value += kGammaWeight * (gamma - 1) * (gamma - 1);
    sum.slope[kGamma] += 2 * kGammaWeight * (gamma - 1);
    sum.curvature[kGamma][kGamma] += 2 * kGammaWeight;
    for (const std::size_t alpha : {kAlphaN, kAlphaR}) {
      const double ratio = times[alpha + 1] / times[alpha];
      const double weight = kSlopeWeight * ratio * ratio;
      sum.value += weight;
      sum.slope[alpha] -= 2 * weight;
      sum.slope[alpha + 1] += 2 * weight;
      sum.curvature[alpha][alpha] += 4 * weight;
      sum.curvature[alpha + 1][alpha] -= 4 * weight;
      sum.curvature[alpha + 1][alpha + 1] += 4 * weight;
    }
    return sum;
  }

 private:
  void Pin(std::span<const TimingObservation> observations) {
    bool one_batch = true;
    bool one_node = false;
    bool many = false;
    for (const TimingObservation& o : observations) {
      one_batch = one_batch && o.local_batch == observations.front().local_batch;
      several_nodes_ = several_nodes_ || o.several_nodes;
      one_node = one_node || (!o.several_nodes && o.gpus > 1);
      many = many || o.gpus > 2;
      mean_gradient_ += o.gradient / static_cast<double>(observations.size());
    }
    free_ = {!one_batch,       true, several_nodes_, several_nodes_ && many, one_node,
             one_node && many, true};
    pinned_.fill(std::log(kLeast));
    pinned_[kAlphaC] = std::log(mean_gradient_ / 2);
  }

  void Guess(std::span<const TimingObservation> observations) {
    double batch = 0;
    double synchronisation = 0;
    double synchronised = 0;
    for (const TimingObservation& o : observations) {
      batch += o.local_batch / static_cast<double>(observations.size());
      if (o.gpus == 1) continue;
      synchronisation += std::max(o.iteration - o.gradient, 1e-4);
      ++synchronised;
    }
    const double alpha = synchronised > 0 ? synchronisation / synchronised : 0.1;
    guess_ = Logarithms({mean_gradient_ / 2, mean_gradient_ / 2 / batch, alpha, 0.05 * alpha, alpha,
                         0.05 * alpha, 1.5});
    for (std::size_t i = 0; i < kCount; ++i) guess_[i] = free_[i] ? guess_[i] : pinned_[i];
  }

  static double Low(std::size_t i) { return i < kGamma ? std::log(kLeast) : 1.0; }
  static double High(std::size_t i) { return i < kGamma ? std::log(kMost) : kMostGamma; }

  void Descend(double smoothing, Vector* z) const {
    constexpr int kMostSteps = 60;
    constexpr double kWorthwhile = 1e-5;  // fall of the loss, relative
    constexpr double kMostDamping = 1e6;
    Expansion here = At(*z, smoothing);
    double damping = 1e-3;
    int slow = 0;
    for (int step = 0; step < kMostSteps && slow < 2 && damping < kMostDamping; ++step) {
      Vector next = *z;
      if (!Step(here, damping, &next)) {
        damping = std::max(4 * damping, 1e-3);
        continue;
      }
      double predicted = 0;
      for (std::size_t i = 0; i < kCount; ++i) predicted += here.slope[i] * (next[i] - (*z)[i]);
      Expansion there = At(next, smoothing);
      if (!(predicted < 0) || !(there.value < here.value + 1e-4 * predicted)) {
        damping *= 6;
        continue;
      }
      slow = here.value - there.value < kWorthwhile * here.value ? slow + 1 : 0;
      damping = std::max(damping / 8, 1e-9);
      *z = next;
      here = there;
    }
  }

  // Adds a damped Newton step over what is free and not held by a bound, cut to the bounds. False:
  // the curvature is not positive.
  bool Step(const Expansion& here, double damping, Vector* z) const {
    constexpr double kFarthest = 3;  // of any parameter
    std::array<std::size_t, kCount> place{};
    std::size_t n = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      const bool held = here.slope[i] > 0 ? (*z)[i] <= Low(i) : (*z)[i] >= High(i);
      if (free_[i] && !held) place[n++] = i;
    }
    Matrix root;
    Vector x;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double left = here.curvature[place[i]][place[j]] + (i == j ? damping : 0);
        for (std::size_t k = 0; k < j; ++k) left -= root[i][k] * root[j][k];
        if (i == j && left <= 1e-12) return false;
        root[i][j] = i == j ? std::sqrt(left) : left / root[j][j];
      }
      x[i] = -here.slope[place[i]];
      for (std::size_t k = 0; k < i; ++k) x[i] -= root[i][k] * x[k];
      x[i] /= root[i][i];
    }
    double farthest = kFarthest;
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) x[i] -= root[k][i] * x[k];
      x[i] /= root[i][i];
      farthest = std::max(farthest, std::abs(x[i]));
    }
    for (std::size_t i = 0; i < n; ++i) {
      double& value = (*z)[place[i]];
      value = std::clamp(value + x[i] * kFarthest / farthest, Low(place[i]), High(place[i]));
    }
    return true;
  }

  std::vector<Seen> seen_;
  std::array<bool, kCount> free_{};
  Vector pinned_{};
  Vector guess_{};
  bool several_nodes_ = false;
  double mean_gradient_ = 0;
};

}  // namespace

void CheckObservation(const TimingObservation& o) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  if (!positive(o.gradient) || !positive(o.iteration) || !positive(o.local_batch) || o.gpus < 1) {
    throw DataError(
        "an observed iteration has times and a batch that are finite and above 0 and at least one "
        "GPU, got gradient {} s, iteration {} s, {} samples on each of {} GPUs",
        o.gradient, o.iteration, o.local_batch, o.gpus);
  }
}

double TimingLoss(std::span<const TimingObservation> observations, const StepTiming& timing) {
  return TimingProblem(observations).At(Logarithms(timing), 0).value;
}

TimingFit FitTiming(std::span<const TimingObservation> observations, const StepTiming* warm) {
  const TimingProblem problem(observations);
  return warm != nullptr ? problem.Fit(Logarithms(*warm)) : problem.FitCold();
}

}  // namespace allot
