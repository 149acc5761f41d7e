// Types by exact assignment (solve/type_assignment.h): those that the order names first run, or
// those that are worth the most.

#include "core/error.h"
#include "solve/type_assignment.h"
#include "stages/fill/type_values.h"

namespace allot {
namespace {

enum class Enter { kAsWeighed, kByOrder, kByValue };

class Exact : public TypeAssignment {
 public:
  Exact(Enter enter, double pays_within) : enter_(enter), values_(pays_within) {}

  // By value the answer is not that of the order, even where there is nothing to choose.
  bool AppliesTo(const ClusterSpec& cluster) const override {
    return enter_ == Enter::kByValue || TypeAssignment::AppliesTo(cluster);
  }

  void Assign(const Observation& o, const TypeQuestion& question,
              std::vector<GpuTypeIndex>* types) override {
    const bool by_value =
        enter_ == Enter::kByValue || (enter_ == Enter::kAsWeighed && !question.weights.empty());
    values_.Read(o, question);
    assigner_.Solve({values_.capacity(), values_.gpus(), values_.values(),
                     by_value ? question.first : question.order.size()});
    types->clear();
    for (const std::int32_t type : assigner_.types()) {
      types->push_back(type == kWaits ? kNoType : static_cast<GpuTypeIndex>(type));
    }
  }

 private:
  Enter enter_;
  TypeValues values_;
  TypeAssigner assigner_;
};

Enter EnterOf(const std::string& text) {
  if (text.empty()) return Enter::kAsWeighed;
  if (text == "order") return Enter::kByOrder;
  if (text == "value") return Enter::kByValue;
  throw UsageError("types 'exact': 'enter' must be order or value, got '{}'", text);
}

ALLOT_REGISTER(TypeAssignmentInfo, ([] {
                 TypeAssignmentInfo info;
                 info.id = "exact";
                 info.summary = "the assignment with the largest sum of relative speeds";
                 info.params = {{"enter", "",
                                 "who runs: the first of the order, or those of most value "
                                 "(default: by value where the sizing weighs jobs)"},
                                PaysWithinParam()};
                 info.make = [](const Params& params) {
                   return std::make_unique<Exact>(EnterOf(params.Text("enter")),
                                                  params.Number("pays-within"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
