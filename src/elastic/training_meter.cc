#include "elastic/training_meter.h"

#include <algorithm>

namespace allot {
namespace {

Seconds Median(std::vector<Seconds> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void TrainingMeter::BeginEpoch(Seconds now) {
  counted_from_ = now;
  counted_ = 0;
  rate_ = kUnknown;
  passes_.clear();
  steps_.clear();
}

void TrainingMeter::AddStep(Seconds now, double work) {
  work_ += work;
  counted_ += work;
  if (now > counted_from_) rate_ = counted_ / (now - counted_from_);
}

void TrainingMeter::AddTimes(const WorkerBatch& batch, Seconds pass, Seconds step) {
  if (batch != batch_) {
    batch_ = batch;
    passes_.clear();
    steps_.clear();
  }
  if (passes_.size() < kWindow) {
    next_ = 0;
    passes_.push_back(pass);
    steps_.push_back(step);
    return;
  }
  passes_[next_] = pass;
  steps_[next_] = step;
  next_ = (next_ + 1) % kWindow;
}

StepSeconds TrainingMeter::seconds() const {
  const Seconds gradient = Median(passes_);
  const Seconds last = Median(steps_) - gradient * batch_.accumulation;
  return {gradient, std::max(last, gradient)};  // a step contains its pass, despite clock noise
}

}  // namespace allot
