#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "perf/throughput_model.h"

namespace allot {
namespace {

// Bounds of the power law beyond what was measured: more GPUs neither slow a job down nor speed it
// up by more than their number.
constexpr double kMinExponent = 0;
constexpr double kMaxExponent = 0.9;

double Interpolate(const std::vector<std::pair<GpuCount, double>>& points, GpuCount gpus) {
  const auto above = std::lower_bound(
      points.begin(), points.end(), gpus,
      [](const std::pair<GpuCount, double>& point, GpuCount n) { return point.first < n; });
  if (above == points.end()) {
    // rate ~ gpus^e through the last two points. One alone says nothing about scaling: e = 0.
    const auto& [last_gpus, last_rate] = points.back();
    if (points.size() == 1) return last_rate;
    const auto& [prev_gpus, prev_rate] = points[points.size() - 2];
    const double exponent =
        std::log(last_rate / prev_rate) / std::log(static_cast<double>(last_gpus) / prev_gpus);
    return last_rate * std::pow(static_cast<double>(gpus) / last_gpus,
                                std::clamp(exponent, kMinExponent, kMaxExponent));
  }
  if (above->first == gpus) return above->second;
  const std::pair<GpuCount, double> below =
      above == points.begin() ? std::pair<GpuCount, double>(0, 0.0) : *std::prev(above);
  const double share =
      static_cast<double>(gpus - below.first) / static_cast<double>(above->first - below.first);
  return below.second + share * (above->second - below.second);
}

bool Unnamed(std::string_view gpu_type) { return gpu_type.empty() || gpu_type == kUnnamedGpuType; }

class GpuScalingModel final : public ThroughputModel {
 public:
  GpuScalingModel(std::string name, std::vector<GpuScalingPoints> types)
      : name_(std::move(name)), types_(std::move(types)) {
    ALLOT_CHECK(!types_.empty());
    for (const GpuScalingPoints& type : types_) {
      ALLOT_CHECK(!type.points.empty());
      GpuCount before = 0;
      for (const auto& [gpus, rate] : type.points) {
        ALLOT_CHECK_GT(gpus, before);
        ALLOT_CHECK_GT(rate, 0.0);
        before = gpus;
      }
    }
  }

  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const RunShape& shape, const TrainingState&) const override {
    const int gpus = shape.units().of(0);
    if (gpus <= 0) return 0;
    const std::string* type = MeasuredType(shape.gpu_type);
    if (type == nullptr || gpus < LeastMeasured(*type)) return 0;
    for (const GpuScalingPoints& points : types_) {
      if (points.gpu_type == *type && points.span.Holds(shape.nodes.size())) {
        return Interpolate(points.points, gpus);
      }
    }
    return 0;
  }
  std::vector<Span> SpansOn(std::string_view gpu_type) const override {
    const std::string* type = MeasuredType(gpu_type);
    std::vector<Span> spans;
    for (const GpuScalingPoints& points : types_) {
      if (type != nullptr && points.gpu_type == *type) spans.push_back(points.span);
    }
    return spans;
  }
  std::vector<std::string> gpu_types() const override {
    std::vector<std::string> types;
    if (same_on_all()) return types;
    for (const GpuScalingPoints& points : types_) {
      if (types.empty() || types.back() != points.gpu_type) types.push_back(points.gpu_type);
    }
    return types;
  }

 private:
  bool same_on_all() const {
    return Unnamed(types_.front().gpu_type) && types_.back().gpu_type == types_.front().gpu_type;
  }
  // The type whose rates this one has; null: it was not measured.
  const std::string* MeasuredType(std::string_view gpu_type) const {
    const auto known = std::find_if(types_.begin(), types_.end(), [&](const GpuScalingPoints& t) {
      return t.gpu_type == gpu_type;
    });
    if (known != types_.end()) return &known->gpu_type;
    return same_on_all() || Unnamed(gpu_type) ? &types_.front().gpu_type : nullptr;
  }

  GpuCount LeastMeasured(std::string_view type) const {
    GpuCount least = kMaxGpusPerJob;
    for (const GpuScalingPoints& points : types_) {
      if (points.gpu_type == type) least = std::min(least, points.points.front().first);
    }
    return least;
  }

  std::string name_;
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
  std::vector<GpuScalingPoints> types_;  // rows of a type and span together
};

// Adds a row to the points of its profile; those of a type and span are consecutive and rise in
// GPUs.
void AddPoint(const std::string& profile, const CatalogueRow& row,
              std::vector<GpuScalingPoints>* types) {
  const std::string& type = row.Text("gpu_type");
  if (type.empty()) {
    throw DataError("'profile' and 'gpu_type' must not be empty, got '{}' and '{}' ({})", profile,
                    type, row.place());
  }
  const GpuCount gpus = row.Gpus("gpus");
  const double rate = row.Positive("rate");
  Span span;
  if (row.Has("nodes") && !row.Text("nodes").empty()) {
    try {
      span = ParseSpan(row.Text("nodes"));
    } catch (const Error& error) {
      throw DataError("'nodes': {} ({})", error.what(), row.place());
    }
  }
  if (types->empty() || types->back().gpu_type != type || !(types->back().span == span)) {
    const bool other_type = types->empty() || types->back().gpu_type != type;
    for (const GpuScalingPoints& known : *types) {
      if (known.gpu_type != type || (!other_type && !(known.span == span))) continue;
      throw DataError(
          "rows of a GPU type must stand together: '{}' of profile '{}' appears again "
          "({})",
          type, profile, row.place());
    }
    types->push_back({type, {}, span});
  }
  auto& points = types->back().points;
  if (!points.empty() && gpus <= points.back().first) {
    throw DataError("'gpus' must rise within a GPU type, got {} after {} ({})", gpus,
                    points.back().first, row.place());
  }
  points.emplace_back(gpus, rate);
}

}  // namespace

ModelPtr MakeGpuScalingModel(std::string name, std::vector<GpuScalingPoints> types) {
  return std::make_shared<GpuScalingModel>(std::move(name), std::move(types));
}

namespace {

ALLOT_REGISTER(ThroughputModelInfo,
               (ThroughputModelInfo{
                   "gpu-scaling",
                   "rates measured at some numbers of GPUs, by type and nodes",
                   {"gpu_type", "gpus", "rate"},
                   {"nodes"},
                   [](const std::string& profile, std::span<const CatalogueRow> rows) {
                     std::vector<GpuScalingPoints> types;
                     for (const CatalogueRow& row : rows) AddPoint(profile, row, &types);
                     return MakeGpuScalingModel(profile, std::move(types));
                   }}));

}  // namespace
}  // namespace allot
