// Types by exact assignment (stages/exact_types.h): those that the order names first run, or those
// that are worth the most.

#include "core/error.h"
#include "stages/exact_types.h"

namespace allot {
namespace {

enum class Enter { kAsWeighed, kByOrder, kByValue };

class Exact : public TypeAssignment {
 public:
  explicit Exact(Enter enter) : enter_(enter) {}

  // By value the answer is not that of the order, even where there is nothing to choose.
  bool Concerns(const ClusterSpec& cluster) const override {
    return enter_ == Enter::kByValue || TypeAssignment::Concerns(cluster);
  }

  void Assign(const Observation& o, const TypeQuestion& question,
              std::vector<GpuTypeIndex>* types) override {
    const bool by_value =
        enter_ == Enter::kByValue || (enter_ == Enter::kAsWeighed && !question.weights.empty());
    exact_.Assign(o, question, by_value, types);
  }

 private:
  Enter enter_;
  ExactTypes exact_;
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
                                 "(default: by value where the sizing weighs jobs)"}};
                 info.make = [](const Params& params) {
                   return std::make_unique<Exact>(EnterOf(params.Text("enter")));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
