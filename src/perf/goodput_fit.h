#pragma once
// The seven parameters of a job's iteration time (StepTiming, perf/goodput_model.h), fitted to what
// its iterations were seen to take.
//
// Loss (Qiao et al., "Pollux", OSDI'21, section 4.1; weights and pins as in its artifact): RMSE of
// ln T_grad + RMSE of ln T_iter + 1e-3 (gamma - 1)^2 + 1e-2 ((beta_n/alpha_n)^2 +
// (beta_r/alpha_r)^2). What was never seen is pinned, so that a job is taken to scale perfectly
// where it did not run yet:
//   one batch size only           alpha_c = half the mean of T_grad
//   never on several nodes        alpha_n = beta_n = 1e-8; after the fit at least 1.1 times those
//                                 of one node
//   never on several GPUs of one  alpha_r = beta_r = 1e-8
//   never on more than two GPUs   beta_n = beta_r = 1e-8
//
// Bounded damped Newton steps on the logarithms (Levenberg-Marquardt with the curvature of both
// norms; projected onto the bounds), first with the norms smoothed at 0, then nearly without: where
// few observations can be met exactly, the loss has a kink, at which quasi-Newton methods stop.
// ADR 40 has the comparison.

#include <span>

#include "core/types.h"
#include "perf/goodput_model.h"

namespace allot {

// Iterations on these GPUs, without accumulation.
struct TimingObservation {
  bool several_nodes = false;
  GpuCount gpus = 1;
  double local_batch = 1;  // samples on each GPU
  Seconds gradient = 0;    // of one pass
  Seconds iteration = 0;   // of a pass with synchronisation
};

struct TimingFit {
  StepTiming timing;
  double loss = 0;
};

// Throws DataError naming the rule where a number is not finite and above 0.
void CheckObservation(const TimingObservation& observation);

// At least one observation, DataError otherwise.
double TimingLoss(std::span<const TimingObservation> observations, const StepTiming& timing);

// Cold: the better one of two descents, from a guess made of the observations and from where the
// artifact begins. `warm`: one, from there. O(steps x observations), about 0.05 ms for ten.
TimingFit FitTiming(std::span<const TimingObservation> observations,
                    const StepTiming* warm = nullptr);

}  // namespace allot
