#pragma once
// The arithmetic of the index network for many jobs, on vectors of eight floats: compiled twice,
// for any x86-64 (or other) processor and for those with AVX2, and chosen when the program runs.
// Neither fuses a multiplication with an addition, so that both give the same bits. Called by
// IndexNet alone.

#include <cstddef>

namespace allot::internal {

inline constexpr std::size_t kLanes = 8;
inline constexpr int kJobsAtOnce = 3;

// Matrices are column-major; `hidden` and `outputs` are padded to whole kLanes with zeros.
struct IndexKernelWeights {
  std::size_t features;
  std::size_t hidden;
  std::size_t outputs;
  const float* from_job;         // [hidden + outputs, features]
  const float* base;             // [hidden + outputs]: bias and context
  const float* out_from_hidden;  // [outputs, hidden]
};

// For each of `count` rows of `jobs`: h = tanh(first rows of W x + base), then the first `wanted`
// of (last rows of W x + base) + O h into `out`. `row` is working
// memory of kJobsAtOnce x (hidden + outputs). A job's numbers do not depend on the others.
void RunIndexKernel(const IndexKernelWeights& weights, const float* jobs, std::size_t count,
                    std::size_t wanted, float* out, float* row);

// The same, by the code for any processor: what tests compare with.
void RunPortableIndexKernel(const IndexKernelWeights& weights, const float* jobs, std::size_t count,
                            std::size_t wanted, float* out, float* row);

}  // namespace allot::internal
