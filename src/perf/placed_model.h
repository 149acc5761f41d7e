#pragma once
// placed(base, communication): a model whose rate depends on the job's place in a topology, too.
//
// With c = communication.share an iteration takes
//   T = (1 - c) x slowest + c x level x congestion
// times what it takes on the best place (PlaceFactors), so the rate is base's divided by T. Of a
// base that tells spans of nodes apart, `level` must not repeat what these rates contain
// (MeasuresNodes). Made for each job by sim/scenario.h where the cluster has a topology.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "perf/throughput_model.h"
#include "workload/communication.h"

namespace allot {

// T of the formula above. O(1).
double SlowdownAt(const PlaceFactors& place, const Communication& communication);

class PlacedModel final : public ThroughputModel {
 public:
  PlacedModel(ModelPtr base, const Communication& communication);

  const ThroughputModel& base() const { return *base_; }
  const Communication& communication() const { return communication_; }
  bool measures_nodes() const { return measures_nodes_; }  // MeasuresNodes of the base

  const std::string& name() const override { return base_->name(); }
  const std::vector<UnitKind>& kinds() const override { return base_->kinds(); }
  double Rate(const RunShape& shape, const TrainingState& state) const override;
  bool varies() const override { return true; }
  double ConstantUntil(double done) const override { return base_->ConstantUntil(done); }
  double total_work() const override { return base_->total_work(); }
  bool Offers(GpuCount gpus, std::string_view gpu_type) const override {
    return base_->Offers(gpus, gpu_type);
  }
  std::vector<Span> SpansOn(std::string_view gpu_type) const override {
    return base_->SpansOn(gpu_type);
  }
  Seconds StateSeconds(const RunShape& shape) const override { return base_->StateSeconds(shape); }
  std::optional<std::string> PlanOn(const RunShape& shape) const override {
    return base_->PlanOn(shape);
  }
  std::vector<std::string> gpu_types() const override { return base_->gpu_types(); }
  std::vector<std::string> partners() const override { return base_->partners(); }

 private:
  ModelPtr base_;
  Communication communication_;
  bool measures_nodes_;
};

// Whether the model's rates depend on the number of nodes, so that the first level above the node
// is part of them.
bool MeasuresNodes(const ThroughputModel& model);

}  // namespace allot
