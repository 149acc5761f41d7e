#pragma once
// The gradient noise scale of a job, estimated from the gradients that its steps compute anyway.
//
// A step averages n gradients, each of b samples (one a worker and pass). With the mean of their
// squared norms |g_b|^2 and the squared norm of their average |g_nb|^2, unbiased estimates are
//   |G|^2   = (n b |g_nb|^2 - b |g_b|^2) / (n b - b)         squared norm of the true gradient
//   tr(S)   = (|g_b|^2 - |g_nb|^2) / (1/b - 1/(n b))         variance of one sample's gradient
// and the noise scale is their quotient tr(S) / |G|^2: McCandlish et al. 2018, "An Empirical Model
// of Large-Batch Training", appendix A.1. Each is averaged over steps before the quotient is taken,
// as there. Late in training |G|^2 comes out as nothing, or below: then it is taken to be as large
// as its average is uncertain, so that the scale is the least that the steps allow.
//
// A step of one gradient alone (n = 1) is paired with the step before: the "differenced" estimate
// of Qiao et al., "Pollux", OSDI'21, section 3.1. Parameters move between the two, which makes it
// too large at high learning rates; so it is thrown away once a step of several gradients is seen,
// as there.

#include <span>
#include <vector>

#include "core/types.h"

namespace allot {

// What a newcomer takes over.
struct NoiseAverages {
  double signal = 0;         // |G|^2, of weight in all `weight`
  double variance = 0;       // tr(S), likewise
  double signal_square = 0;  // of one step's estimate, likewise
  double weight = 0;         // 0: nothing was seen, 1: for long
  bool paired = false;       // of steps of one gradient
};

class GradientNoise {
 public:
  // A step of `parts` gradients of `samples` each. `mean_square`: mean of their squared norms,
  // `average_square`: squared norm of their average. Fewer than two parts, or norms that are not
  // finite (a loss that overflowed), say nothing.
  void Add(int parts, double samples, double mean_square, double average_square);
  // A step of one gradient of `samples`. O(gradient), and keeps a copy of it.
  void AddAlone(std::span<const float> gradient, double samples);

  // Whether enough steps were seen to go by it.
  bool settled() const { return averages_.weight >= kSettled; }
  // In samples; kUnknown where nothing was seen.
  double scale() const;
  double signal() const { return of_one(averages_.signal); }      // |G|^2; kUnknown: none seen
  double variance() const { return of_one(averages_.variance); }  // tr(S), of one sample

  const NoiseAverages& averages() const { return averages_; }
  void Restore(const NoiseAverages& averages) { averages_ = averages; }

  static constexpr double kForget = 0.01;  // both are noisy one by one: over some 100 steps
  static constexpr double kSettled = 0.2;  // weight, after 23 steps

 private:
  double of_one(double sum) const {
    return averages_.weight > 0 ? sum / averages_.weight : kUnknown;
  }
  double signal_error() const;  // standard error of the average
  void Average(double signal, double variance);

  NoiseAverages averages_;
  std::vector<float> last_;  // gradient of the step before, of one that was alone
  double last_samples_ = 0;
};

double SquaredNorm(std::span<const float> values);

}  // namespace allot
