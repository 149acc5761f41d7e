#pragma once
// How fast a job trains and how noisy its gradient is, from what its steps show. ElasticWorker
// feeds it; the clock is the caller's, so that tests need none.

#include <cstdint>

#include "core/types.h"

namespace allot {

class TrainingMeter {
 public:
  void Joined(Seconds now);  // an epoch begins: its rate is measured afresh
  // A step of `samples` in all, by `members` equal shares. `local` is the mean of the squared norms
  // of the members' gradients, `global` the squared norm of their average.
  void Step(Seconds now, double samples, int members, double local, double global);

  void SetWork(double samples) { work_ = samples; }
  double work() const { return work_; }  // samples done
  double rate() const { return rate_; }  // samples a second in this epoch; kUnknown at first
  // The batch size at which noise and signal of the gradient are equal (McCandlish et al. 2018,
  // "An Empirical Model of Large-Batch Training", appendix A.1); kUnknown until two members differ.
  double noise_scale() const;

 private:
  double work_ = 0;
  double rate_ = kUnknown;
  Seconds counted_from_ = kUnknown;
  double counted_ = 0;
  double signal_ =
      0;  // running averages of the estimator's two parts; begin at 0, which their quotient hides
  double noise_ = 0;
};

}  // namespace allot
