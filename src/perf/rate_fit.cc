#include "perf/rate_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace allot {
namespace {

UnitCounts Gpus(GpuCount gpus) { return {static_cast<std::int16_t>(gpus), 0}; }

class PriorModel final : public ThroughputModel {
 public:
  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const UnitCounts& units, std::string_view) const override {
    return units[0] <= 0 ? 0 : std::pow(units[0], kPriorExponent);
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
  double Rate(const UnitCounts& units, std::string_view type) const override {
    return fit_.Rate(units[0], std::string(type));
  }

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
    return point.second.log_rate - std::log(PriorRate(point.first, type));
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

double RateFit::PriorRate(GpuCount gpus, const std::string& type) const {
  const double rate = prior_->Rate(Gpus(gpus), type);
  return rate > 0 ? rate : prior_->Rate(Gpus(gpus), kUnnamedGpuType);
}

double RateFit::Rate(GpuCount gpus, const std::string& type) const {
  const double prior = PriorRate(gpus, type);
  if (points_.empty() || !(prior > 0)) return prior;
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
