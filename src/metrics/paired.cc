#include "metrics/paired.h"

#include <fmt/format.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "core/check.h"

namespace allot {

double StudentQuantile(double confidence, int degrees) {
  ALLOT_CHECK_GE(degrees, 1);
  ALLOT_CHECK(confidence > 0 && confidence < 1);
  const boost::math::students_t distribution(degrees);
  return boost::math::quantile(boost::math::complement(distribution, (1 - confidence) / 2));
}

namespace {

// Sums of what lies in one window, by window; each value that has a window of its own by itself.
std::vector<double> SumsByWindow(std::span<const double> values,
                                 std::span<const std::int32_t> windows) {
  std::vector<double> alone;
  std::map<std::int32_t, double> sums;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (windows.empty() || windows[i] == kWindowOfItsOwn) {
      alone.push_back(values[i]);
    } else {
      sums[windows[i]] += values[i];
    }
  }
  if (alone.empty() && sums.size() == 1) return {values.begin(), values.end()};
  for (const auto& [window, sum] : sums) alone.push_back(sum);
  return alone;
}

}  // namespace

PairedRatio MeanWithInterval(std::span<const double> values,
                             std::span<const std::int32_t> windows) {
  ALLOT_CHECK(windows.empty() || windows.size() == values.size());
  PairedRatio result;
  result.n = static_cast<int>(values.size());
  if (values.empty()) return result;

  double sum = 0;
  for (const double value : values) sum += value;
  result.mean = sum / result.n;
  if (result.n < 2) return result;

  std::vector<double> deviations(values.begin(), values.end());
  for (double& deviation : deviations) deviation -= result.mean;
  const std::vector<double> clusters = SumsByWindow(deviations, windows);
  double squares = 0;
  for (const double cluster : clusters) squares += cluster * cluster;
  const auto g = static_cast<int>(clusters.size());
  const double standard_error = std::sqrt(squares * g / (g - 1)) / result.n;
  const double half = StudentQuantile(0.95, g - 1) * standard_error;
  result.low = result.mean - half;
  result.high = result.mean + half;
  return result;
}

PairedRatio PositiveMeanWithInterval(std::span<const double> values,
                                     std::span<const std::int32_t> windows) {
  PairedRatio result = MeanWithInterval(values, windows);
  if (!result.has_interval() || !(result.mean > 0)) return result;
  const double factor = std::exp((result.high - result.mean) / result.mean);
  result.low = result.mean / factor;
  result.high = result.mean * factor;
  return result;
}

std::string IntervalInWords(std::span<const std::int32_t> windows) {
  const std::set<std::int32_t> distinct(windows.begin(), windows.end());
  if (distinct.empty() || distinct.contains(kWindowOfItsOwn)) return "Student's t";
  if (distinct.size() > 1) {
    return fmt::format("Student's t over {} windows of the trace", distinct.size());
  }
  return windows.size() > 1 ? "Student's t over draws from one window of the trace" : "Student's t";
}

PairedRatio ComparePaired(std::span<const double> a, std::span<const double> b,
                          std::span<const std::int32_t> windows) {
  ALLOT_CHECK_EQ(a.size(), b.size());
  std::vector<double> logs(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    logs[i] = a[i] > 0 && b[i] > 0 ? std::log(a[i] / b[i]) : kUnknown;
  }
  PairedRatio result = MeanWithInterval(logs, windows);
  for (double* figure : {&result.mean, &result.low, &result.high}) *figure = std::exp(*figure);
  return result;
}

}  // namespace allot
