#include <string>
#include <vector>

#include "perf/throughput_model.h"

namespace allot {
namespace {

class ConstantModel final : public ThroughputModel {
 public:
  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const UnitCounts& units, std::string_view) const override {
    return units[0] > 0 ? 1.0 : 0.0;
  }

 private:
  std::string name_ = "constant";
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
};

}  // namespace

ModelPtr MakeConstantModel() { return std::make_shared<ConstantModel>(); }

}  // namespace allot
