#include "core/vector_log.h"

#include <cstdint>
#include <cstring>

namespace allot {
namespace {

using Floats [[gnu::vector_size(kLogLanes * sizeof(float))]] = float;
using FloatBits [[gnu::vector_size(kLogLanes * sizeof(float))]] = std::int32_t;

// x = 2^e (1 + m) with 1 + m in [sqrt(1/2), sqrt(2)), and the polynomial in m of Cephes' logf
// (Moshier, 1984-1992).
[[gnu::always_inline]] inline void Log(float* values, float bound) {
  Floats x;
  std::memcpy(&x, values, sizeof(x));
  const FloatBits bits = reinterpret_cast<FloatBits>(x);
  Floats e = __builtin_convertvector((bits >> 23) - 126, Floats);
  Floats m = reinterpret_cast<Floats>((bits & 0x007FFFFF) | 0x3F000000);  // [1/2, 1)
  const FloatBits small = m < 0.707106781186547524F;
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
  x = x < -bound ? Floats{} - bound : x;
  x = x > bound ? Floats{} + bound : x;
  std::memcpy(values, &x, sizeof(x));
}

using Doubles [[gnu::vector_size(kWideLogLanes * sizeof(double))]] = double;
using DoubleBits [[gnu::vector_size(kWideLogLanes * sizeof(double))]] = std::int64_t;

// The same reduction, and the series in s = m / (2 + m) of FreeBSD's e_log.c (Sun, 1993).
[[gnu::always_inline]] inline void Log(double* values, double bound) {
  constexpr std::int64_t kMantissa = (std::int64_t{1} << 52) - 1;
  constexpr std::int64_t kHalf = std::int64_t{0x3FE} << 52;
  constexpr double kTwo52 = 4503599627370496.0;
  Doubles x;
  std::memcpy(&x, values, sizeof(x));
  const DoubleBits bits = reinterpret_cast<DoubleBits>(x);
  // The exponent as a number: the low bits of 2^52, less 2^52.
  Doubles e = reinterpret_cast<Doubles>((bits >> 52) | (std::int64_t{0x433} << 52)) - kTwo52 - 1022;
  Doubles m = reinterpret_cast<Doubles>((bits & kMantissa) | kHalf);  // [1/2, 1)
  const DoubleBits small = m < 0.70710678118654752440;
  e = small ? e - 1.0 : e;
  m = small ? m + m - 1.0 : m - 1.0;
  const Doubles s = m / (m + 2.0);
  const Doubles z = s * s;
  const Doubles w = z * z;
  const Doubles even =
      w * (w * (w * 1.531383769920937332e-1 + 2.222219843214978396e-1) + 3.999999999940941908e-1);
  const Doubles odd =
      z *
      (w * (w * (w * 1.479819860511658591e-1 + 1.818357216161805012e-1) + 2.857142874366239149e-1) +
       6.666666666666735130e-1);
  const Doubles half = m * m * 0.5;
  x = e * 6.93147180369123816490e-1 -
      ((half - (s * (half + (even + odd)) + e * 1.90821492927058770002e-10)) - m);
  x = x < -bound ? Doubles{} - bound : x;
  x = x > bound ? Doubles{} + bound : x;
  std::memcpy(values, &x, sizeof(x));
}

[[gnu::always_inline]] inline void TakeEach(float* values, std::size_t count, float bound) {
  for (std::size_t i = 0; i < count; i += kLogLanes) Log(values + i, bound);
}
[[gnu::always_inline]] inline void TakeEach(double* values, std::size_t count, double bound) {
  for (std::size_t i = 0; i < count; i += kWideLogLanes) Log(values + i, bound);
}

}  // namespace

void TakeLogsPortably(float* values, std::size_t count, float bound) {
  TakeEach(values, count, bound);
}
void TakeLogsPortably(double* values, std::size_t count, double bound) {
  TakeEach(values, count, bound);
}

#if defined(__x86_64__)

namespace {

[[gnu::target("avx2")]] void TakeEachAvx2(float* values, std::size_t count, float bound) {
  TakeEach(values, count, bound);
}
[[gnu::target("avx2")]] void TakeEachAvx2(double* values, std::size_t count, double bound) {
  TakeEach(values, count, bound);
}

}  // namespace

void TakeLogs(float* values, std::size_t count, float bound) {
  static const bool avx2 = __builtin_cpu_supports("avx2");
  avx2 ? TakeEachAvx2(values, count, bound) : TakeLogsPortably(values, count, bound);
}
void TakeLogs(double* values, std::size_t count, double bound) {
  static const bool avx2 = __builtin_cpu_supports("avx2");
  avx2 ? TakeEachAvx2(values, count, bound) : TakeLogsPortably(values, count, bound);
}

#else

void TakeLogs(float* values, std::size_t count, float bound) {
  TakeLogsPortably(values, count, bound);
}
void TakeLogs(double* values, std::size_t count, double bound) {
  TakeLogsPortably(values, count, bound);
}

#endif

}  // namespace allot
