#include "perf/placed_model.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace allot {

double SlowdownAt(const PlaceFactors& place, const Communication& communication) {
  const double share = communication.share;
  return (1 - share) * place.slowest + share * place.level * place.congestion;
}

PlacedModel::PlacedModel(ModelPtr base, const Communication& communication)
    : base_(std::move(base)),
      communication_(communication),
      measures_nodes_(MeasuresNodes(*base_)) {
  ALLOT_CHECK(communication.share >= 0 && communication.share < 1);
}

double PlacedModel::Rate(const RunShape& shape, const TrainingState& state) const {
  return base_->Rate(shape, state) / SlowdownAt(shape.place, communication_);
}

bool MeasuresNodes(const ThroughputModel& model) {
  if (model.varies()) return true;  // of placements, or of the training alone: it may know
  std::vector<std::string> types = model.gpu_types();
  types.emplace_back(kUnnamedGpuType);
  return std::any_of(types.begin(), types.end(),
                     [&](const std::string& type) { return model.SpansOn(type).size() > 1; });
}

namespace {

ALLOT_REGISTER(
    ThroughputModelInfo,
    (ThroughputModelInfo{
        "placed", "any other, slowed down by the job's place in a topology", {}, {}, {}}));

}  // namespace
}  // namespace allot
