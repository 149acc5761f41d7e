#include "metrics/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/check.h"
#include "metrics/quantile.h"

namespace allot {

std::vector<double> EvenQuantiles(std::vector<double> values, int count) {
  ALLOT_CHECK_GE(count, 2);
  std::vector<double> result;
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  for (int i = 0; i < count; ++i) {
    result.push_back(Quantile<double>(values, static_cast<double>(i) / (count - 1)));
  }
  return result;
}

std::vector<double> BucketMeans(std::span<const double> times, std::span<const double> values,
                                double until, double begin, double end, int count) {
  ALLOT_CHECK_EQ(times.size(), values.size());
  ALLOT_CHECK_GE(count, 1);
  const auto buckets = static_cast<std::size_t>(count);
  std::vector<double> area(buckets, 0.0);
  std::vector<double> covered(buckets, 0.0);
  const double width = (end - begin) / count;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double from = std::max(times[i], begin);
    const double to = std::min(i + 1 < times.size() ? times[i + 1] : until, end);
    if (!(to > from)) continue;
    auto bucket = std::min(static_cast<std::size_t>((from - begin) / width), buckets - 1);
    for (; bucket < buckets; ++bucket) {
      const double bucket_begin = begin + static_cast<double>(bucket) * width;
      if (bucket_begin >= to) break;
      const double overlap = std::min(to, bucket_begin + width) - std::max(from, bucket_begin);
      if (overlap <= 0) continue;
      area[bucket] += overlap * values[i];
      covered[bucket] += overlap;
    }
  }
  for (std::size_t b = 0; b < buckets; ++b)
    area[b] = covered[b] > 0 ? area[b] / covered[b] : kUnknown;
  return area;
}

std::vector<double> ThinnedMeans(std::span<const double> values, std::size_t count) {
  ALLOT_CHECK_GE(count, std::size_t{1});
  const std::size_t run = std::max<std::size_t>(1, (values.size() + count - 1) / count);
  std::vector<double> result;
  for (std::size_t begin = 0; begin < values.size(); begin += run) {
    double sum = 0;
    int known = 0;
    for (std::size_t i = begin; i < std::min(begin + run, values.size()); ++i) {
      if (std::isnan(values[i])) continue;
      sum += values[i];
      ++known;
    }
    result.push_back(known > 0 ? sum / known : kUnknown);
  }
  return result;
}

double RoundedTo(double value, int digits) {
  if (!std::isfinite(value)) return value;
  return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
}

}  // namespace allot
