#include "elastic/gradient_noise.h"

#include <algorithm>
#include <cmath>

namespace allot {

double SquaredNorm(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

void GradientNoise::Average(double signal, double variance) {
  averages_.signal += kForget * (signal - averages_.signal);
  averages_.variance += kForget * (variance - averages_.variance);
  averages_.signal_square += kForget * (signal * signal - averages_.signal_square);
  averages_.weight += kForget * (1 - averages_.weight);
}

void GradientNoise::Add(int parts, double samples, double mean_square, double average_square) {
  last_.clear();
  if (parts < 2 || !(samples > 0)) return;
  if (!std::isfinite(mean_square) || !std::isfinite(average_square)) return;
  if (averages_.paired) averages_ = {};
  const double large = parts * samples;
  Average((large * average_square - samples * mean_square) / (large - samples),
          (mean_square - average_square) / (1 / samples - 1 / large));
}

void GradientNoise::AddAlone(std::span<const float> gradient, double samples) {
  const bool pair = last_.size() == gradient.size() && last_samples_ == samples && samples > 0;
  if (pair && (averages_.paired || averages_.weight == 0)) {
    double product = 0;     // the signal: two independent gradients share no noise
    double difference = 0;  // twice the noise of one
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double a = gradient[i];
      const double b = last_[i];
      product += a * b;
      difference += (a - b) * (a - b);
    }
    if (std::isfinite(product) && std::isfinite(difference)) {
      Average(product, samples * difference / 2);
      averages_.paired = true;
    }
  }
  last_.assign(gradient.begin(), gradient.end());
  last_samples_ = samples;
}

// The number of steps of equal weight that the exponential average is worth.
double GradientNoise::signal_error() const {
  const double steps = (2 - kForget) / kForget * averages_.weight / (2 - averages_.weight);
  const double mean = signal();
  const double spread = average(averages_.signal_square) - mean * mean;
  return spread > 0 ? std::sqrt(spread / steps) : 0;
}

double GradientNoise::scale() const {
  if (!(averages_.variance > 0)) return kUnknown;
  const double signal_most = std::max(signal(), signal_error());
  return signal_most > 0 ? variance() / signal_most : kUnknown;
}

}  // namespace allot
