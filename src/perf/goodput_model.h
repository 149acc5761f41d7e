#pragma once
// Goodput: how much faster a data-parallel job trains when its batch grows with its GPUs. The
// throughput model 'goodput' of catalogues is made of this; its unit of work is one iteration at
// the job's initial batch size M0.
//
// Sources: Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep
// Learning", OSDI'21: throughput of seven parameters (section 3.2), statistical efficiency
// (section 3.1; McCandlish et al., "An Empirical Model of Large-Batch Training", 2018, section 2,
// for the noise scale), batch size by goodput (section 4.1). How candidates of batch sizes are
// spaced and rounded is that of its artifact, so that its choices are repeated exactly.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "perf/throughput_model.h"

namespace allot {

// Seconds of an iteration. Synchronisation costs alpha_n + beta_n (K - 2) on K GPUs of several
// nodes, alpha_r + beta_r (K - 2) on those of one node, and overlaps with the gradient computation
// the more, the larger gamma is (1: not at all).
struct StepTiming {
  double alpha_c = 0;  // of a pass over one GPU's batch: constant, and for each sample
  double beta_c = 0;
  double alpha_n = 0;
  double beta_n = 0;
  double alpha_r = 0;
  double beta_r = 0;
  double gamma = 1;

  double Gradient(double local_batch) const { return alpha_c + beta_c * local_batch; }
  double Synchronisation(bool several_nodes, GpuCount gpus) const;
  // `accumulation` passes without synchronisation, then one with it.
  double Iteration(bool several_nodes, GpuCount gpus, double local_batch, int accumulation) const;
};

// Variance and squared norm of the gradient, of a batch of M0 samples.
struct GradientStatistics {
  double square = 1;
  double variance = 0;

  // Of `noise_scale` = M0 variance / square, in samples.
  static GradientStatistics OfNoiseScale(double noise_scale, double initial_batch) {
    return {1, noise_scale / initial_batch};
  }
  // Iterations at M0 that one iteration with `scale` times M0 samples is worth; 1 where statistics
  // say nothing.
  double Gain(double scale) const;
};

struct BatchLimits {
  double initial = 0;  // M0
  double most = 0;     // samples on all GPUs together
  double least_local = 1;
  double most_local = 0;  // samples of one pass on one GPU
};

// How a job trains on some GPUs.
struct BatchChoice {
  std::int64_t local_batch = 0;
  int accumulation = 0;  // passes beyond the first before gradients are applied
  double rate = 0;       // iterations at M0 per second; 0: it cannot train so

  double total(GpuCount gpus) const {
    return static_cast<double>(gpus) * static_cast<double>(local_batch) * (accumulation + 1);
  }
};

// Statistics of batches of these sizes, ascending: linear in between, those of the nearest beyond.
struct StatisticsPoint {
  double batch = 0;
  GradientStatistics statistics;
};
GradientStatistics StatisticsAt(const std::vector<StatisticsPoint>& points, double batch);

// Passes for so many samples on each GPU together; a batch above M0 on one GPU takes two, as the
// noise scale is estimated from the difference of gradients.
BatchChoice SplitBatch(const BatchLimits& limits, GpuCount gpus, double total_batch);
// The same for a batch that is given, as nearly as whole samples on each GPU and `most` allow.
BatchChoice SplitFixedBatch(const BatchLimits& limits, GpuCount gpus, double total_batch);

// The batches that are tried, ascending where `most` is above the first: 50 of equal ratio from
// max(M0, gpus x least_local) to `most`, without those that a GPU cannot do and without repeats.
// Rates are 0.
std::vector<BatchChoice> BatchCandidates(const BatchLimits& limits, GpuCount gpus);

// The best of 50 batch sizes from max(M0, gpus x least_local) to `most`, of equal ratio; of equal
// ones the smallest. `points`: at least one. O(50).
BatchChoice ChooseBatch(const StepTiming& timing, const BatchLimits& limits,
                        const std::vector<StatisticsPoint>& points, bool several_nodes,
                        GpuCount gpus);
// With `total_batch` samples as nearly as whole samples on each GPU allow.
BatchChoice FixedBatch(const StepTiming& timing, const BatchLimits& limits,
                       const std::vector<StatisticsPoint>& points, bool several_nodes,
                       GpuCount gpus, double total_batch);

}  // namespace allot
