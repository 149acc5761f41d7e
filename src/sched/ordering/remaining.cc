// Shortest remaining time first, by the estimated time left at the requested size.
// Jobs without an estimate come last, in order of submission.

#include <cmath>

#include "sched/stages.h"

namespace allot {
namespace {

class RemainingOrder : public Ordering {
 public:
  void Keys(const Observation& o, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    keys->clear();
    for (const std::int32_t row : rows) {
      const auto r = static_cast<std::size_t>(row);
      const double left = EstimatedRemaining(o.estimated_work[r], o.done_work[r]);
      const double seconds = left / (*o.table[r])[o.requested[r]].rate;
      keys->push_back(std::isnan(seconds) ? kNever : seconds);
    }
  }
};

ALLOT_REGISTER(OrderingInfo, ([] {
                 OrderingInfo info;
                 info.id = "remaining";
                 info.summary = "shortest estimated remaining time at the requested size first";
                 info.needs_lengths = true;
                 info.time_driven = true;
                 info.make = [](const Params&) { return std::make_unique<RemainingOrder>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
