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

// On a type that the prior does not know a belief has to begin somewhere: as on the unnamed one.
std::string_view TypeInPrior(const ThroughputModel& prior, std::string_view gpu_type) {
  return prior.SpansOn(gpu_type).empty() ? kUnnamedGpuType : gpu_type;
}

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
    return fit_.prior().SpansOn(TypeInPrior(fit_.prior(), gpu_type));
  }
  bool Offers(GpuCount gpus, std::string_view gpu_type) const override {
    return fit_.prior().Offers(gpus, TypeInPrior(fit_.prior(), gpu_type));
  }
  Seconds StateSeconds(const RunShape& shape) const override {
    return fit_.prior().StateSeconds(shape);
  }
  std::optional<std::string> PlanOn(const RunShape& shape) const override {
    const std::string_view type = TypeInPrior(fit_.prior(), shape.gpu_type);
    return fit_.prior().PlanOn({type, shape.nodes, shape.partner});
  }
  std::vector<std::string> gpu_types() const override { return fit_.prior().gpu_types(); }

 private:
  RateFit fit_;
  std::string name_;
  std::vector<UnitKind> kinds_;
};

// On nodes of any size.
std::vector<UnitCounts> OnFewestNodes(GpuCount gpus, const Span& span) {
  std::vector<UnitCounts> nodes = FewestNodes(gpus, kMaxGpusPerJob, span);
  if (nodes.empty()) nodes.emplace_back(gpus);  // fewer GPUs than nodes
  return nodes;
}

// Another number of GPUs on nodes like those of `shape`; itself where it has that number.
std::vector<UnitCounts> Like(const RunShape& shape, GpuCount gpus, const Span& span) {
  if (shape.units().of(0) == gpus && span.Holds(shape.nodes.size())) {
    return {shape.nodes.begin(), shape.nodes.end()};
  }
  GpuCount node_gpus = 1;
  for (const UnitCounts& units : shape.nodes) node_gpus = std::max(node_gpus, units.of(0));
  std::vector<UnitCounts> nodes = FewestNodes(gpus, node_gpus, span);
  return nodes.empty() ? OnFewestNodes(gpus, span) : nodes;
}

}  // namespace

ModelPtr MakePriorModel() { return std::make_shared<PriorModel>(); }

RateFit::SpanPoints& RateFit::Of(const std::string& type, Span span) {
  Spans& spans = points_[type];
  const auto known = std::find_if(spans.begin(), spans.end(),
                                  [&](const SpanPoints& points) { return points.span == span; });
  return known != spans.end() ? *known : *spans.insert(spans.end(), {span, {}});
}

std::vector<RateFit::PlacedPoint> RateFit::Points() const {
  std::vector<PlacedPoint> all;
  for (const auto& [type, spans] : points_) {
    for (const SpanPoints& points : spans) {
      for (const auto& [gpus, point] : points.counts)
        all.push_back({type, points.span, gpus, point});
    }
  }
  return all;
}

void RateFit::PutPoint(const PlacedPoint& point) {
  Of(point.type, point.span).counts[point.gpus] = point.point;
}

RateFit RateFit::AsUsed() const {
  RateFit used(prior_);
  for (PlacedPoint& point : Points()) {
    if (std::isnan(point.point.used)) continue;
    point.point.log_rate = point.point.used;
    used.PutPoint(point);
  }
  return used;
}

void RateFit::Measure(GpuCount gpus, const std::string& type, double rate, Seconds seconds,
                      Span span) {
  if (!(rate > 0) || !(seconds > 0) || !std::isfinite(rate)) return;
  const auto [known, is_new] = Of(type, span).counts.try_emplace(gpus);
  Point& point = known->second;
  if (is_new) {
    point = {std::log(rate), std::min(seconds, kMemory), kUnknown};
    return;
  }
  const double share = seconds / (point.weight + seconds);
  point.log_rate += share * (std::log(rate) - point.log_rate);
  point.weight = std::min(point.weight + seconds, kMemory);
}

double RateFit::LogRatio(const RunShape& shape, const Spans& spans) const {
  const SpanPoints* narrowest = nullptr;
  double sum = 0;
  for (const SpanPoints& points : spans) {
    sum += LogRatio(shape, points);
    const auto width = [](const Span& span) { return span.most - span.least; };
    if (!points.span.Holds(shape.nodes.size())) continue;
    if (narrowest == nullptr || width(points.span) < width(narrowest->span)) narrowest = &points;
  }
  if (narrowest != nullptr) return LogRatio(shape, *narrowest);
  return sum / static_cast<double>(spans.size());
}

double RateFit::LogRatio(const RunShape& shape, const SpanPoints& points) const {
  const GpuCount gpus = shape.units().of(0);
  const auto ratio = [&](const std::pair<const GpuCount, Point>& point) {
    const std::vector<UnitCounts> nodes = Like(shape, point.first, points.span);
    const double prior = PriorRate({shape.gpu_type, nodes, {}}, {});
    return prior > 0 ? point.second.log_rate - std::log(prior) : 0;
  };
  const auto& counts = points.counts;
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
  if (rate > 0) return rate;
  const std::string_view type = TypeInPrior(*prior_, shape.gpu_type);
  return type == shape.gpu_type ? rate : prior_->Rate({type, shape.nodes, shape.partner}, state);
}

double RateFit::Rate(GpuCount gpus, const std::string& type, Span span) const {
  const std::vector<UnitCounts> nodes = OnFewestNodes(gpus, span);
  return Rate({type, nodes, {}}, {});
}

double RateFit::Rate(const RunShape& shape, const TrainingState& state) const {
  const double prior = PriorRate(shape, state);
  if (points_.empty() || !(prior > 0)) return prior;
  const auto measured = points_.find(std::string(shape.gpu_type));
  if (measured != points_.end()) return prior * std::exp(LogRatio(shape, measured->second));
  double sum = 0;
  for (const auto& [other, spans] : points_) {
    sum += LogRatio({other, shape.nodes, shape.partner}, spans);
  }
  return prior * std::exp(sum / static_cast<double>(points_.size()));
}

GpuCount RateFit::Nearest(GpuCount gpus, const std::string& type, Span span) const {
  const auto measured = points_.find(type);
  if (measured == points_.end()) return 0;
  GpuCount nearest = 0;
  double least = 0;
  for (const SpanPoints& points : measured->second) {
    if (!points.span.Holds(static_cast<std::size_t>(span.least))) continue;
    for (const auto& [count, point] : points.counts) {
      const double apart = std::abs(std::log(static_cast<double>(count) / gpus));
      if (nearest > 0 && !(apart < least || (apart == least && count < nearest))) continue;
      nearest = count;
      least = apart;
    }
  }
  return nearest;
}

ModelPtr RateFit::Model() const { return std::make_shared<FittedModel>(*this, *prior_); }

bool RateFit::Moved(double share) const {
  for (const auto& [type, spans] : points_) {
    for (const SpanPoints& points : spans) {
      for (const auto& [gpus, point] : points.counts) {
        if (!(std::abs(point.log_rate - point.used) <= std::log1p(share))) return true;
      }
    }
  }
  return false;
}

void RateFit::MarkUsed() {
  for (auto& [type, spans] : points_) {
    for (SpanPoints& points : spans) {
      for (auto& [gpus, point] : points.counts) point.used = point.log_rate;
    }
  }
}

}  // namespace allot
