// Smallest remaining share of its own work first, whatever its length: what DL2's simulator calls
// shortest remaining time (docs/fidelity.md). Jobs without an estimate come last.

#include <cmath>

#include "sched/incremental_stages.h"

namespace allot {
namespace {

class RemainingFractionOrder : public Ordering, public IncrementalOrdering {
 public:
  const IncrementalOrdering* incremental() const override { return this; }
  void Keys(const Observation& o, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    keys->clear();
    for (const std::int32_t row : rows) {
      const auto r = static_cast<std::size_t>(row);
      const double left = 1 - o.done_work[r] / o.estimated_work[r];
      keys->push_back(std::isnan(left) ? kNever : left);
    }
  }
};

ALLOT_REGISTER(OrderingInfo, ([] {
                 OrderingInfo info;
                 info.id = "remaining-fraction";
                 info.summary = "smallest estimated remaining share of its own work first";
                 info.needs_lengths = true;
                 info.time_driven = true;
                 info.make = [](const Params&) {
                   return std::make_unique<RemainingFractionOrder>();
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
