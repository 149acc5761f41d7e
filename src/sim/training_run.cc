#include "sim/training_run.h"

#include <cmath>
#include <utility>

#include "core/error.h"
#include "perf/pipelines.h"

namespace allot {

TrainingRun::TrainingRun(const ApplicationModel& model, const TrainingRules& rules)
    : application_(*model.application()),
      rules_(rules),
      slowdown_(rules.SlowdownOf(application_.name())) {}

void TrainingRun::Place(std::string_view gpu_type, std::span<const UnitCounts> nodes,
                        const Chooser& choose) {
  type_ = application_.On(gpu_type);
  if (type_ == nullptr) {
    throw DataError("{}: '{}' was not measured on GPU type '{}'", application_.place(),
                    application_.name(), gpu_type);
  }
  gpu_type_ = gpu_type;
  nodes_.assign(nodes.begin(), nodes.end());
  canonical_ = CanonicalPlacement(nodes);
  place_ = type_->times.PlaceOf(canonical_);
  if (type_->stages > 1 && PipelineBatch(*type_, place_.gpus).local_batch == 0) {
    throw DataError(
        "{}: '{}' on '{}' runs on multiples of its {} stages with at most {} samples, {} on each "
        "replica; got {} GPUs",
        application_.place(), application_.name(), type_->gpu_type, type_->stages,
        type_->limits.most, type_->limits.most_local, place_.gpus);
  }
  batch_ = {};
  Choose(choose);
}

void TrainingRun::Choose(const Chooser& choose) {
  const BatchChoice before = batch_;
  batch_ = type_->stages > 1 ? PipelineBatch(*type_, place_.gpus)
                             : choose({gpu_type_, nodes_, {}}, epoch_);
  if (batch_.local_batch == before.local_batch && batch_.accumulation == before.accumulation)
    return;
  Look();
}

void TrainingRun::Look() {
  time_ = StepTimeOn(*type_, place_, batch_.local_batch);
  if (time_.known()) return;
  const auto [least, most] = type_->times.BatchesOf(place_);
  throw DataError(
      "{}: iteration times of '{}' at placement {} on '{}' are measured with {} to {} samples a "
      "GPU, "
      "or not at all, and it trains with {}",
      application_.place(), application_.name(), PlacementText(canonical_), type_->gpu_type, least,
      most, batch_.local_batch);
}

Seconds TrainingRun::Advance(Seconds seconds, double factor, const Chooser& choose,
                             const Meter& measure) {
  Seconds left = seconds;
  while (left > 0 && !finished()) {
    const double total = batch_.total(ReplicasOn(*type_, place_.gpus));
    const GradientStatistics statistics = application_.StatisticsIn(epoch_, total);
    const double rate = statistics.Gain(total / application_.initial_batch()) /
                        time_.Iteration(batch_.accumulation) / slowdown_ * factor;
    rate_ = rate;
    const Seconds left_before = left;
    const std::int32_t epoch = epoch_;
    const double end = application_.ProgressUntil(epoch_);
    if (done_ + rate * left < end) {
      done_ += rate * left;
      left = 0;
    } else {
      const Seconds needed = (end - done_) / rate;
      left -= rules_.whole_seconds ? std::nearbyint(needed) : needed;
      done_ = end;
      ++epoch_;
    }
    if (measure) {
      BatchChoice batch = batch_;
      batch.rate = rate;
      measure({{gpu_type_, static_cast<std::int32_t>(canonical_.size()), place_.gpus},
               batch,
               time_.gradient(),
               time_.step,
               statistics,
               epoch,
               left_before - left});
    }
    if (!finished()) Choose(choose);
  }
  return seconds - left;
}

}  // namespace allot
