#pragma once
// The gradient noise scale of a job, estimated from the gradients that its steps compute anyway.
//
// A step averages n gradients, each of b samples (one a worker and pass). With the mean of their
// squared norms |g_b|^2 and the squared norm of their average |g_nb|^2, unbiased estimates are
//   |G|^2   = (n b |g_nb|^2 - b |g_b|^2) / (n b - b)         squared norm of the true gradient
//   tr(S)   = (|g_b|^2 - |g_nb|^2) / (1/b - 1/(n b))         variance of one sample's gradient
// and the noise scale is their quotient tr(S) / |G|^2: McCandlish et al. 2018, "An Empirical Model
// of Large-Batch Training", appendix A.1. Each is averaged over steps before the quotient is taken,
// as there. Late in training the estimate of |G|^2 can be 0 or negative. It is then replaced by its
// own standard error, which gives the smallest scale that the steps allow.
//
// A step with a single gradient (n = 1) is paired with the step before: the "differenced" estimate
// of Qiao et al., "Pollux", OSDI'21, section 3.1. Parameters move between the two, which makes the
// estimate too large at high learning rates; so it is dropped once a step of several gradients is
// seen, as there.

#include <span>
#include <vector>

#include "core/types.h"

namespace allot {

// The sums that a new worker takes over. Divide each by `weight` to get the average.
struct NoiseAverages {
  double signal = 0;         // |G|^2
  double variance = 0;       // tr(S)
  double signal_square = 0;  // square of one step's |G|^2
  double weight = 0;         // sum of the weights: 0 without steps, 1 after many
  bool paired = false;       // the estimates come from pairs of single gradients
};

class GradientNoise {
 public:
  // Adds a step of `parts` gradients of `samples` each. `mean_square` is the mean of their squared
  // norms, `average_square` the squared norm of their average. Fewer than two parts, and norms that
  // are not finite (the loss overflowed), are ignored.
  void Add(int parts, double samples, double mean_square, double average_square);
  // Adds a step with a single gradient of `samples`. O(gradient); keeps a copy of it.
  void AddAlone(std::span<const float> gradient, double samples);

  // True once there were enough steps to rely on the scale.
  bool settled() const { return averages_.weight >= kSettled; }
  // The three are kUnknown before the first step.
  double scale() const;                                            // samples
  double signal() const { return average(averages_.signal); }      // |G|^2
  double variance() const { return average(averages_.variance); }  // tr(S) of one sample

  const NoiseAverages& averages() const { return averages_; }
  void Restore(const NoiseAverages& averages) { averages_ = averages; }

  static constexpr double kForget = 0.01;  // averages over some 100 steps: single ones are noisy
  static constexpr double kSettled = 0.2;  // weight, after 23 steps

 private:
  double average(double sum) const {
    return averages_.weight > 0 ? sum / averages_.weight : kUnknown;
  }
  double signal_error() const;  // standard error of the average
  void Average(double signal, double variance);

  NoiseAverages averages_;
  std::vector<float> last_;  // gradient of the step before, if that was a single one
  double last_samples_ = 0;
};

double SquaredNorm(std::span<const float> values);

}  // namespace allot
