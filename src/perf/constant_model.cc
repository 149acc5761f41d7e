#include <string>
#include <vector>

#include "perf/throughput_model.h"

namespace allot {
namespace {

class ConstantModel final : public ThroughputModel {
 public:
  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const RunShape& shape, const TrainingState&) const override {
    return shape.units().of(0) > 0 ? 1.0 : 0.0;
  }

 private:
  std::string name_ = "constant";
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
};

}  // namespace

ModelPtr MakeConstantModel() { return std::make_shared<ConstantModel>(); }

namespace {

ALLOT_REGISTER(ThroughputModelInfo,
               (ThroughputModelInfo{
                   "constant", "one second of work a second, on any GPUs", {}, {}, {}}));

}  // namespace

}  // namespace allot
