#include "core/vector_log.h"

#include <cstdint>
#include <cstring>

namespace allot {
namespace {

using Floats [[gnu::vector_size(kLogLanes * sizeof(float))]] = float;
using Words [[gnu::vector_size(kLogLanes * sizeof(float))]] = std::int32_t;

// x = 2^e (1 + m) with 1 + m in [sqrt(1/2), sqrt(2)), and the polynomial in m of Cephes' logf
// (Moshier, 1984-1992).
[[gnu::always_inline]] inline void Log(float* values) {
  Floats x;
  std::memcpy(&x, values, sizeof(x));
  const Words bits = reinterpret_cast<Words>(x);
  Floats e = __builtin_convertvector((bits >> 23) - 126, Floats);
  Floats m = reinterpret_cast<Floats>((bits & 0x007FFFFF) | 0x3F000000);  // [1/2, 1)
  const Words small = m < 0.707106781186547524F;
  e = small ? e - 1.0F : e;
  m = small ? m + m - 1.0F : m - 1.0F;
  const Floats z = m * m;
  Floats p = m * 7.0376836292e-2F - 1.1514610310e-1F;
  p = p * m + 1.1676998740e-1F;
  p = p * m - 1.2420140846e-1F;
  p = p * m + 1.4249322787e-1F;
  p = p * m - 1.6668057665e-1F;
  p = p * m + 2.0000714765e-1F;
  p = p * m - 2.4999993993e-1F;
  p = p * m + 3.3333331174e-1F;
  p = p * m * z;
  p = p + e * -2.12194440e-4F;
  p = p - z * 0.5F;
  x = (m + p) + e * 0.693359375F;
  std::memcpy(values, &x, sizeof(x));
}

[[gnu::always_inline]] inline void TakeEach(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLogLanes) Log(values + i);
}

}  // namespace

void TakeLogsPortably(float* values, std::size_t count) { TakeEach(values, count); }

#if defined(__x86_64__)

namespace {

[[gnu::target("avx2")]] void TakeEachAvx2(float* values, std::size_t count) {
  TakeEach(values, count);
}

}  // namespace

void TakeLogs(float* values, std::size_t count) {
  static const auto run = __builtin_cpu_supports("avx2") ? TakeEachAvx2 : TakeLogsPortably;
  run(values, count);
}

#else

void TakeLogs(float* values, std::size_t count) { TakeLogsPortably(values, count); }

#endif

}  // namespace allot
