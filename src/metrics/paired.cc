#include "metrics/paired.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

#include "core/check.h"

namespace allot {

double StudentQuantile(double confidence, int degrees) {
  ALLOT_CHECK_GE(degrees, 1);
  ALLOT_CHECK(confidence > 0 && confidence < 1);
  const boost::math::students_t distribution(degrees);
  return boost::math::quantile(boost::math::complement(distribution, (1 - confidence) / 2));
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
