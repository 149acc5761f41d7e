#include "perf/rate_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace allot {
namespace {

class PriorModel final : public ThroughputModel {
 public:
  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const RunShape& shape, const TrainingState&) const override {
    const int gpus = shape.units().of(0);
    return gpus <= 0 ? 0 : std::pow(gpus, kPriorExponent);
  }

 private:
  std::string name_ = "prior";
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
};

class FittedModel final : public ThroughputModel {
 public:
  FittedModel(RateFit fit, const ThroughputModel& prior)
      : fit_(std::move(fit)), name_(prior.name()), kinds_(prior.kinds()) {}
  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const RunShape& shape, const TrainingState& state) const override {
    return fit_.Rate(shape, state);
  }
  std::vector<Span> SpansOn(std::string_view gpu_type) const override {
    const std::vector<Span> spans = fit_.prior().SpansOn(gpu_type);
    return spans.empty() ? fit_.prior().SpansOn(kUnnamedGpuType) : spans;
  }
  std::vector<std::string> gpu_types() const override { return fit_.prior().gpu_types(); }

 private:
  RateFit fit_;
  std::string name_;
  std::vector<UnitKind> kinds_;
};

}  // namespace

ModelPtr MakePriorModel() { return std::make_shared<PriorModel>(); }

void RateFit::Measure(GpuCount gpus, const std::string& type, double rate, Seconds seconds) {
  if (!(rate > 0) || !(seconds > 0) || !std::isfinite(rate)) return;
  auto& counts = points_[type];
  const auto known = counts.find(gpus);
  if (known == counts.end()) {
    counts[gpus] = {std::log(rate), std::min(seconds, kMemory), kUnknown};
    return;
  }
  Point& point = known->second;
  const double share = seconds / (point.weight + seconds);
  point.log_rate += share * (std::log(rate) - point.log_rate);
  point.weight = std::min(point.weight + seconds, kMemory);
}

std::optional<double> RateFit::LogRatio(GpuCount gpus, const std::string& type) const {
  const auto found = points_.find(type);
  if (found == points_.end()) return std::nullopt;
  const auto ratio = [&](const std::pair<const GpuCount, Point>& point) {
    const UnitCounts units(point.first);
    return point.second.log_rate - std::log(PriorRate({type, {&units, 1}, {}}, {}));
  };
  const auto& counts = found->second;
  const auto above = counts.lower_bound(gpus);
  if (above == counts.end()) return ratio(*std::prev(above));
  if (above->first == gpus || above == counts.begin()) return ratio(*above);
  const auto below = std::prev(above);
  const double share = std::log(static_cast<double>(gpus) / below->first) /
                       std::log(static_cast<double>(above->first) / below->first);
  return ratio(*below) + share * (ratio(*above) - ratio(*below));
}

double RateFit::PriorRate(const RunShape& shape, const TrainingState& state) const {
  const double rate = prior_->Rate(shape, state);
  return rate > 0 ? rate : prior_->Rate({kUnnamedGpuType, shape.nodes, shape.partner}, state);
}

double RateFit::Rate(GpuCount gpus, const std::string& type) const {
  const UnitCounts units(gpus);
  return Rate({type, {&units, 1}, {}}, {});
}

double RateFit::Rate(const RunShape& shape, const TrainingState& state) const {
  const double prior = PriorRate(shape, state);
  if (points_.empty() || !(prior > 0)) return prior;
  const GpuCount gpus = shape.units().of(0);
  const std::string type(shape.gpu_type);
  std::optional<double> ratio = LogRatio(gpus, type);
  if (!ratio) {
    double sum = 0;
    for (const auto& [other, counts] : points_) sum += *LogRatio(gpus, other);
    ratio = sum / static_cast<double>(points_.size());
  }
  return prior * std::exp(*ratio);
}

ModelPtr RateFit::Model() const { return std::make_shared<FittedModel>(*this, *prior_); }

bool RateFit::Moved(double share) const {
  for (const auto& [type, counts] : points_) {
    for (const auto& [gpus, point] : counts) {
      if (!(std::abs(point.log_rate - point.used) <= std::log1p(share))) return true;
    }
  }
  return false;
}

void RateFit::MarkUsed() {
  for (auto& [type, counts] : points_) {
    for (auto& [gpus, point] : counts) point.used = point.log_rate;
  }
}

}  // namespace allot
