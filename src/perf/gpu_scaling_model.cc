#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/check.h"
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
  double Rate(const UnitCounts& units, std::string_view gpu_type) const override {
    if (units[0] <= 0) return 0;
    const auto known = std::find_if(types_.begin(), types_.end(), [&](const GpuScalingPoints& t) {
      return t.gpu_type == gpu_type;
    });
    if (known != types_.end()) return Interpolate(known->points, units[0]);
    const bool any = types_.size() == 1 && Unnamed(types_.front().gpu_type);
    return any || Unnamed(gpu_type) ? Interpolate(types_.front().points, units[0]) : 0;
  }

 private:
  std::string name_;
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
  std::vector<GpuScalingPoints> types_;
};

}  // namespace

ModelPtr MakeGpuScalingModel(std::string name, std::vector<GpuScalingPoints> types) {
  return std::make_shared<GpuScalingModel>(std::move(name), std::move(types));
}

}  // namespace allot
