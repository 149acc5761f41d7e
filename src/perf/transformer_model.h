#pragma once
// Transformers that choose how they are split over their GPUs: the rate of a configuration is that
// of its best plan (plans/plan_search.h), in tokens per second. Made from rows of a catalogue of
// the kind 'transformer' (docs/plans.md); the catalogue 'transformers' comes with allot.
//
// Two configurations of equal GPUs differ in span, one node and several, and tensor splits never
// leave a node. A count that no plan fits has rate 0.

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "perf/throughput_model.h"
#include "plans/plan_search.h"

namespace allot {

class TransformerModel final : public ThroughputModel {
 public:
  // `problems`: one for each GPU type that can run it, at least one, with equal decoders.
  // `reference`: the place of the type that stands for the unnamed one.
  TransformerModel(std::string name, std::vector<PlanProblem> problems, std::size_t reference);

  // Null for a type that nothing is known of.
  const PlanProblem* ProblemOn(std::string_view gpu_type) const;
  // Searched once for each number of GPUs and GPUs on a node.
  std::optional<RatedPlan> PlanFor(const RunShape& shape) const;

  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const RunShape& shape, const TrainingState& state) const override;
  // A checkpoint of 14 bytes a parameter through 2 GB/s of each node (docs/plans.md).
  Seconds StateSeconds(const RunShape& shape) const override;
  std::optional<std::string> PlanOn(const RunShape& shape) const override;
  std::vector<Span> SpansOn(std::string_view gpu_type) const override;
  std::vector<std::string> gpu_types() const override;
  // Powers of two, three times them, and the least count that has a plan.
  bool Offers(GpuCount gpus, std::string_view gpu_type) const override;

 private:
  struct Room {
    const PlanProblem* problem;
    GpuCount gpus;
    GpuCount node_gpus;
    friend auto operator<=>(const Room&, const Room&) = default;
  };

  std::string name_;
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
  std::vector<PlanProblem> problems_;
  std::size_t reference_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::map<Room, std::optional<RatedPlan>> plans_;
  mutable std::map<const PlanProblem*, std::optional<GpuCount>> floors_;
};

// Null of other models.
const TransformerModel* AsTransformer(const ThroughputModel& model);

}  // namespace allot
