// No assignment: the sizing chooses, job after job, among the types that have room.

#include "sched/stages.h"

namespace allot {
namespace {

class Greedy : public TypeAssignment {
 public:
  bool AppliesTo(const ClusterSpec& /*cluster*/) const override { return false; }
  void Assign(const Observation& /*observation*/, const TypeQuestion& /*question*/,
              std::vector<GpuTypeIndex>* types) override {
    types->clear();
  }
};

ALLOT_REGISTER(TypeAssignmentInfo, ([] {
                 TypeAssignmentInfo info;
                 info.id = "greedy";
                 info.summary = "each job in turn takes the best type that has room";
                 info.make = [](const Params&) { return std::make_unique<Greedy>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
