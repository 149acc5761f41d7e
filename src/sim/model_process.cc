#include "sim/model_process.h"

#include <utility>

#include "core/index.h"

namespace allot {
namespace {

class ModelProcess : public JobProcess {
 public:
  ModelProcess(ModelPtr model, std::shared_ptr<const std::vector<GpuTypeSpec>> types)
      : model_(std::move(model)), types_(std::move(types)) {}

  Segment SegmentAt(const Placed& placed, double done) const override {
    const Configuration& c = placed.table[placed.configuration];
    const GpuTypeSpec& type = (*types_)[At(c.gpu_type)];
    std::vector<UnitCounts> nodes;
    if (!placed.shares.empty()) {
      nodes.reserve(placed.shares.size());
      for (const NodeShare& share : placed.shares) nodes.push_back(share.units);
    } else if (model_->kinds().size() > 1) {
      nodes.push_back(c.units);
    } else {
      nodes = FewestNodes(c.units.of(0), type.node_gpus, c.span);
    }
    const std::string_view partner =
        c.partner == kNoPartner ? std::string_view{} : placed.table.partners()[At(c.partner)];
    const double rate =
        model_->Rate({type.name, nodes, partner, placed.place}, {.done_work = done});
    return {rate, model_->ConstantUntil(done)};
  }

 private:
  ModelPtr model_;
  std::shared_ptr<const std::vector<GpuTypeSpec>> types_;
};

}  // namespace

ProcessPtr MakeModelProcess(ModelPtr model, std::shared_ptr<const std::vector<GpuTypeSpec>> types) {
  return std::make_shared<ModelProcess>(std::move(model), std::move(types));
}

}  // namespace allot
