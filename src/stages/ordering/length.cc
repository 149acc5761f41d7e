// Shortest job first, by the estimated run time at the requested size.
// Jobs without an estimate come last, in order of submission.

#include <cmath>

#include "sched/incremental_stages.h"

namespace allot {
namespace {

class LengthOrder : public Ordering, public IncrementalOrdering {
 public:
  explicit LengthOrder(bool preemptive) : preemptive_(preemptive) {}
  bool preemptive() const override { return preemptive_; }
  const IncrementalOrdering* incremental() const override { return this; }
  void Keys(const Observation& o, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    keys->clear();
    for (const std::int32_t row : rows) {
      const auto r = static_cast<std::size_t>(row);
      const double seconds = o.estimated_work[r] / (*o.table[r])[o.requested[r]].rate;
      keys->push_back(std::isnan(seconds) ? kNever : seconds);
    }
  }

 private:
  bool preemptive_;
};

ALLOT_REGISTER(OrderingInfo, ([] {
                 OrderingInfo info;
                 info.id = "length";
                 info.summary = "shortest estimated run time at the requested size first";
                 info.needs_lengths = true;
                 info.params = {{"preemptive", "false",
                                 "whether a shorter job may stop a running longer one"}};
                 info.make = [](const Params& params) {
                   return std::make_unique<LengthOrder>(params.Flag("preemptive"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
