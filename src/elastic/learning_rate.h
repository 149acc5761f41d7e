#pragma once
// How a learning rate that was written for batches of M0 samples grows with a batch of M samples,
// and how many steps of M0 one step with M is worth.
//
//   constant     1
//   linear       M / M0             Goyal et al. 2017, "Accurate, Large Minibatch SGD", section 2.1
//   square-root  sqrt(M / M0)       Krizhevsky 2014, "One weird trick", section 5; for Adam
//   adascale     gain(M)            Johnson et al. 2020, "AdaScale SGD", algorithm 1
//
// gain(M) = (v + g) / (v M0 / M + g) with variance v and squared norm g of gradients of M0 samples
// is that worth (also Qiao et al., "Pollux", OSDI'21, section 3.1). With the noise scale
// B = v M0 / g it is (B + M0) / (B M0 / M + M0).

#include <string_view>

namespace allot {

enum class LearningRateRule { kConstant, kLinear, kSquareRoot, kAdaScale };

// UsageError naming the rules.
LearningRateRule ParseLearningRateRule(std::string_view name);

// Between 1 and M / M0 if M is larger than M0; 1 while `noise_scale` (B, samples) is unknown: more
// samples are then worth nothing.
double GainOf(double noise_scale, double initial_batch, double batch);

double LearningRateFactor(LearningRateRule rule, double noise_scale, double initial_batch,
                          double batch);

}  // namespace allot
