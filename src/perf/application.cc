#include "perf/application.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "perf/throughput_model.h"

namespace allot {

Application::Application(std::string name, std::vector<ApplicationOnType> types,
                         std::vector<TrainingCurve> curves, std::string place)
    : name_(std::move(name)),
      place_(std::move(place)),
      types_(std::move(types)),
      curves_(std::move(curves)) {
  if (types_.empty() || curves_.empty()) {
    throw DataError(
        "{}: an application has a row of parameters and training curves, '{}' has {} and {}",
        place_, name_, types_.size(), curves_.size());
  }
  for (const ApplicationOnType& type : types_) {
    if (type.limits.initial != types_.front().limits.initial) {
      throw DataError(
          "{}: progress is iterations at 'init_batch_size', the same on all GPU types: '{}' has {} "
          "on {} and {} on {}",
          place_, name_, types_.front().limits.initial, types_.front().gpu_type,
          type.limits.initial, type.gpu_type);
    }
  }
  const std::size_t epochs = curves_.front().epochs.size();
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    const TrainingCurve& curve = curves_[c];
    if (c > 0 && curve.batch <= curves_[c - 1].batch) {
      throw DataError("{}: batches of training curves must rise: '{}' has {} after {}", place_,
                      name_, curve.batch, curves_[c - 1].batch);
    }
    if (epochs == 0 || curve.epochs.size() != epochs) {
      throw DataError(
          "{}: training curves have equally many epochs: '{}' has {} at batch {} and {} at batch "
          "{}",
          place_, name_, epochs, curves_.front().batch, curve.epochs.size(), curve.batch);
    }
  }
  for (std::size_t e = 0; e < epochs; ++e) {
    double end = curves_.front().epochs[e].progress;
    auto& points = statistics_.emplace_back();
    points.reserve(curves_.size());
    for (const TrainingCurve& curve : curves_) {
      end = std::min(end, curve.epochs[e].progress);
      points.push_back({curve.batch, curve.epochs[e].statistics});
    }
    const double before = e == 0 ? 0.0 : ends_.back();
    if (!(end > before)) {
      throw DataError(
          "{}: epochs must end one after the other: epoch {} of '{}' ends at {}, the one before at "
          "{}",
          place_, e, name_, end, before);
    }
    ends_.push_back(end);
  }
}

std::int32_t Application::EpochAt(double progress) const {
  return static_cast<std::int32_t>(std::upper_bound(ends_.begin(), ends_.end(), progress) -
                                   ends_.begin());
}

GradientStatistics Application::StatisticsIn(std::int32_t epoch, double batch) const {
  return StatisticsAt(statistics_[At(epoch)], batch);
}

double Application::IterationsUntil(std::int32_t epoch, double batch) const {
  const auto above =
      std::lower_bound(curves_.begin(), curves_.end(), batch,
                       [](const TrainingCurve& curve, double b) { return curve.batch < b; });
  if (above == curves_.end()) return curves_.back().epochs[At(epoch)].iterations;
  const double to = above->epochs[At(epoch)].iterations;
  if (above == curves_.begin() || above->batch == batch) return to;
  const TrainingCurve& below = *std::prev(above);
  const double from = below.epochs[At(epoch)].iterations;
  return from + (batch - below.batch) / (above->batch - below.batch) * (to - from);
}

const ApplicationOnType* Application::On(std::string_view gpu_type) const {
  for (const ApplicationOnType& type : types_) {
    if (type.gpu_type == gpu_type) return &type;
  }
  const bool same_on_all = types_.size() == 1 && types_.front().gpu_type == kUnnamedGpuType;
  return gpu_type.empty() || gpu_type == kUnnamedGpuType || same_on_all ? &types_.front() : nullptr;
}

}  // namespace allot
