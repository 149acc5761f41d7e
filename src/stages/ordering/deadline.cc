// Earliest deadline first (Liu & Layland, JACM 1973, section 7). Jobs without a deadline come last,
// in order of submission.

#include "sched/incremental_stages.h"

namespace allot {
namespace {

class DeadlineOrder : public Ordering, public IncrementalOrdering {
 public:
  explicit DeadlineOrder(bool preemptive) : preemptive_(preemptive) {}
  bool preemptive() const override { return preemptive_; }
  const IncrementalOrdering* incremental() const override { return this; }
  void Keys(const Observation& o, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    keys->clear();
    for (const std::int32_t row : rows) {
      keys->push_back(o.deadline[static_cast<std::size_t>(row)]);
    }
  }

 private:
  bool preemptive_;
};

ALLOT_REGISTER(
    OrderingInfo, ([] {
      OrderingInfo info;
      info.id = "deadline";
      info.summary = "earliest deadline first";
      info.params = {{"preemptive", "true", "whether a more urgent job may stop a running one"}};
      info.make = [](const Params& params) {
        return std::make_unique<DeadlineOrder>(params.Flag("preemptive"));
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
