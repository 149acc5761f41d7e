#include "metrics/paired.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "core/check.h"

namespace allot {
namespace {

// P(|T| <= t), exact for whole degrees of freedom: Abramowitz & Stegun, 26.7.3 (odd) and 26.7.4
// (even).
double CentralProbability(double t, int degrees) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(theta);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1.0;
  double sum = degrees == 1 ? 0.0 : term;
  for (int k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= cosine * cosine * (k - 1) / k;
    sum += term;
  }
  const double tail = std::sin(theta) * sum;
  return odd ? 2.0 / std::numbers::pi * (theta + tail) : tail;
}

}  // namespace

double StudentQuantile(double confidence, int degrees) {
  ALLOT_CHECK_GE(degrees, 1);
  ALLOT_CHECK(confidence > 0 && confidence < 1);
  double low = 0;
  double high = 1;
  while (CentralProbability(high, degrees) < confidence) high *= 2;
  while (
      true) {  // bisection down to neighbouring doubles: monotone, so exact enough and never astray
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (CentralProbability(middle, degrees) < confidence ? low : high) = middle;
  }
}

PairedRatio MeanWithInterval(std::span<const double> values) {
  PairedRatio result;
  result.n = static_cast<int>(values.size());
  if (values.empty()) return result;

  double sum = 0;
  for (const double value : values) sum += value;
  result.mean = sum / result.n;
  if (result.n < 2) return result;

  double squares = 0;
  for (const double value : values) squares += std::pow(value - result.mean, 2);
  const double standard_error = std::sqrt(squares / (result.n - 1) / result.n);
  const double half = StudentQuantile(0.95, result.n - 1) * standard_error;
  result.low = result.mean - half;
  result.high = result.mean + half;
  return result;
}

PairedRatio ComparePaired(std::span<const double> a, std::span<const double> b) {
  ALLOT_CHECK_EQ(a.size(), b.size());
  std::vector<double> logs(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    logs[i] = a[i] > 0 && b[i] > 0 ? std::log(a[i] / b[i]) : kUnknown;
  }
  PairedRatio result = MeanWithInterval(logs);
  for (double* figure : {&result.mean, &result.low, &result.high}) *figure = std::exp(*figure);
  return result;
}

}  // namespace allot
