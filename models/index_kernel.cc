#include "models/index_kernel.h"

#include <cstring>

namespace allot::internal {
namespace {

using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;

// Of numbers anywhere in memory.
[[gnu::always_inline]] inline void Load(const float* from, Lanes* to) {
  std::memcpy(to, from, sizeof(Lanes));
}
[[gnu::always_inline]] inline void Store(const Lanes& from, float* to) {
  std::memcpy(to, &from, sizeof(Lanes));
}

// y = tanh(y). A rational function of degrees 13 and 6, off by a few units in the last place at
// most: the coefficients of Eigen's generic_fast_tanh_float (MPL 2.0).
[[gnu::always_inline]] inline void Tanh(float* y) {
  constexpr float kBound = 7.90531110763549805F;  // beyond it tanh rounds to 1
  constexpr float kTiny = 0.0004F;                // below it to its argument
  Lanes x;
  Load(y, &x);
  x = x > kBound ? Lanes{} + kBound : x;
  x = x < -kBound ? Lanes{} - kBound : x;
  const Lanes s = x * x;
  Lanes p = s * -2.76076847742355e-16F + 2.00018790482477e-13F;
  p = s * p + -8.60467152213735e-11F;
  p = s * p + 5.12229709037114e-08F;
  p = s * p + 1.48572235717979e-05F;
  p = s * p + 6.37261928875436e-04F;
  p = s * p + 4.89352455891786e-03F;
  p = x * p;
  Lanes q = s * 1.19825839466702e-06F + 1.18534705686654e-04F;
  q = s * q + 2.26843463243900e-03F;
  q = s * q + 4.89352518554385e-03F;
  const Lanes ratio = p / q;
  Store(((x < kTiny) & (x > -kTiny)) ? x : ratio, y);
}

// y += M x for kBlocks x kLanes rows of a column-major M and kJobs vectors x, whose sums stay in
// registers. Several jobs at once so that one's additions do not wait for each other.
template <std::size_t kBlocks, int kJobs>
[[gnu::always_inline]] inline void AddColumns(const float* m, std::size_t m_stride, const float* x,
                                              std::size_t x_stride, std::size_t columns, float* y,
                                              std::size_t y_stride) {
  Lanes sum[kJobs][kBlocks];
#pragma GCC unroll 8
  for (int j = 0; j < kJobs; ++j) {
#pragma GCC unroll 8
    for (std::size_t b = 0; b < kBlocks; ++b) {
      Load(y + static_cast<std::size_t>(j) * y_stride + b * kLanes, &sum[j][b]);
    }
  }
  for (std::size_t k = 0; k < columns; ++k) {
    Lanes column[kBlocks];
#pragma GCC unroll 8
    for (std::size_t b = 0; b < kBlocks; ++b) Load(m + k * m_stride + b * kLanes, &column[b]);
#pragma GCC unroll 8
    for (int j = 0; j < kJobs; ++j) {
      const float factor = x[static_cast<std::size_t>(j) * x_stride + k];
#pragma GCC unroll 8
      for (std::size_t b = 0; b < kBlocks; ++b) sum[j][b] += column[b] * factor;
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < kJobs; ++j) {
#pragma GCC unroll 8
    for (std::size_t b = 0; b < kBlocks; ++b) {
      Store(sum[j][b], y + static_cast<std::size_t>(j) * y_stride + b * kLanes);
    }
  }
}

template <int kJobs>
[[gnu::always_inline]] inline void AddProduct(const float* m, std::size_t rows, const float* x,
                                              std::size_t x_stride, std::size_t columns, float* y,
                                              std::size_t y_stride) {
  std::size_t row = 0;
  for (; row + 3 * kLanes <= rows; row += 3 * kLanes) {
    AddColumns<3, kJobs>(m + row, rows, x, x_stride, columns, y + row, y_stride);
  }
  for (; row < rows; row += kLanes) {
    AddColumns<1, kJobs>(m + row, rows, x, x_stride, columns, y + row, y_stride);
  }
}

template <int kJobs>
[[gnu::always_inline]] inline void RunJobs(const IndexKernelWeights& w, const float* jobs,
                                           std::size_t wanted, float* out, float* row) {
  const std::size_t rows = w.hidden + w.outputs;
  for (std::size_t j = 0; j < kJobs; ++j) {
    for (std::size_t r = 0; r < rows; ++r) row[j * rows + r] = w.base[r];
  }
  AddProduct<kJobs>(w.from_job, rows, jobs, w.features, w.features, row, rows);
  for (std::size_t h = 0; h < w.hidden; h += kLanes) {
    for (std::size_t j = 0; j < kJobs; ++j) Tanh(row + j * rows + h);
  }
  AddProduct<kJobs>(w.out_from_hidden, w.outputs, row, rows, w.hidden, row + w.hidden, rows);
  for (std::size_t j = 0; j < kJobs; ++j) {
    for (std::size_t o = 0; o < wanted; ++o) out[j * wanted + o] = row[j * rows + w.hidden + o];
  }
}

[[gnu::always_inline]] inline void Run(const IndexKernelWeights& w, const float* jobs,
                                       std::size_t count, std::size_t wanted, float* out,
                                       float* row) {
  std::size_t i = 0;
  for (; i + kJobsAtOnce <= count; i += kJobsAtOnce) {
    RunJobs<kJobsAtOnce>(w, jobs + i * w.features, wanted, out + i * wanted, row);
  }
  for (; i < count; ++i) RunJobs<1>(w, jobs + i * w.features, wanted, out + i * wanted, row);
}

}  // namespace

void RunPortableIndexKernel(const IndexKernelWeights& weights, const float* jobs, std::size_t count,
                            std::size_t wanted, float* out, float* row) {
  Run(weights, jobs, count, wanted, out, row);
}

#if defined(__x86_64__)

namespace {

[[gnu::target("avx2")]] void RunAvx2(const IndexKernelWeights& weights, const float* jobs,
                                     std::size_t count, std::size_t wanted, float* out,
                                     float* row) {
  Run(weights, jobs, count, wanted, out, row);
}

}  // namespace

void RunIndexKernel(const IndexKernelWeights& weights, const float* jobs, std::size_t count,
                    std::size_t wanted, float* out, float* row) {
  static const auto run = __builtin_cpu_supports("avx2") ? RunAvx2 : RunPortableIndexKernel;
  run(weights, jobs, count, wanted, out, row);
}

#else

void RunIndexKernel(const IndexKernelWeights& weights, const float* jobs, std::size_t count,
                    std::size_t wanted, float* out, float* row) {
  RunPortableIndexKernel(weights, jobs, count, wanted, out, row);
}

#endif

}  // namespace allot::internal
