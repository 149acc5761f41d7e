#include "elastic/training_meter.h"

namespace allot {
namespace {

constexpr double kForget = 0.02;  // both parts are noisy one by one: averaged over some 50 steps

}  // namespace

void TrainingMeter::Joined(Seconds now) {
  counted_from_ = now;
  counted_ = 0;
  rate_ = kUnknown;
}

void TrainingMeter::Step(Seconds now, double samples, int members, double local, double global) {
  work_ += samples;
  counted_ += samples;
  if (now > counted_from_) rate_ = counted_ / (now - counted_from_);
  if (members < 2 || samples <= 0) return;
  const double large = samples;
  const double small = samples / members;
  const double signal = (large * global - small * local) / (large - small);
  const double noise = (local - global) / (1 / small - 1 / large);
  signal_ += kForget * (signal - signal_);
  noise_ += kForget * (noise - noise_);
}

double TrainingMeter::noise_scale() const {
  return signal_ > 0 && noise_ > 0 ? noise_ / signal_ : kUnknown;
}

}  // namespace allot
