// The most important job first, by the priority that its trace gave it; first come, first served
// among equals.

#include "sched/incremental_stages.h"

namespace allot {
namespace {

class PriorityOrder : public Ordering, public IncrementalOrdering {
 public:
  explicit PriorityOrder(bool preemptive) : preemptive_(preemptive) {}
  bool preemptive() const override { return preemptive_; }
  const IncrementalOrdering* incremental() const override { return this; }
  void Keys(const Observation& o, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    keys->clear();
    for (const std::int32_t row : rows) {
      keys->push_back(-o.priority[static_cast<std::size_t>(row)]);
    }
  }

 private:
  bool preemptive_;
};

ALLOT_REGISTER(
    OrderingInfo, ([] {
      OrderingInfo info;
      info.id = "priority";
      info.summary = "largest priority first, then earliest submission";
      info.params = {{"preemptive", "true", "whether a more important job may stop a running one"}};
      info.make = [](const Params& params) {
        return std::make_unique<PriorityOrder>(params.Flag("preemptive"));
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
