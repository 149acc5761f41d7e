// Shortest remaining time first, by the estimated time left at the requested size: of the work that
// is left or, as Blox computes it, of the whole length less the time it has run.
// Jobs without an estimate come last, in order of submission.

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "sched/incremental_stages.h"

namespace allot {
namespace {

class RemainingOrder : public Ordering, public IncrementalOrdering {
 public:
  explicit RemainingOrder(bool by_service) : by_service_(by_service) {}

  const IncrementalOrdering* incremental() const override { return this; }

  void Keys(const Observation& o, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    keys->resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto r = static_cast<std::size_t>(rows[i]);
      const double rate = (*o.table[r])[o.requested[r]].rate;
      const double seconds = by_service_
                                 ? o.estimated_work[r] / rate - o.attained_seconds[r]
                                 : EstimatedRemaining(o.estimated_work[r], o.done_work[r]) / rate;
      (*keys)[i] = std::isnan(seconds) ? kNever : seconds;
    }
  }

  // Keys of running jobs fall, until an estimate proves too short.
  Drift DriftOf(const Observation& o, std::int32_t row, std::int32_t configuration) const override {
    const auto r = static_cast<std::size_t>(row);
    if (by_service_ || std::isnan(o.estimated_work[r])) return {0, kNever};
    const double left = o.estimated_work[r] - o.done_work[r];
    return {0, o.now + std::max(0.0, left / (*o.table[r])[configuration].rate)};
  }

 private:
  bool by_service_;
};

ALLOT_REGISTER(OrderingInfo, ([] {
                 OrderingInfo info;
                 info.id = "remaining";
                 info.summary = "shortest estimated remaining time at the requested size first";
                 info.needs_lengths = true;
                 info.time_driven = true;
                 info.params = {
                     {"basis", "work",
                      "remaining time by work left, or by service so far: work or service"}};
                 info.make = [](const Params& params) {
                   const std::string& basis = params.Text("basis");
                   if (basis != "work" && basis != "service") {
                     throw UsageError(
                         "ordering 'remaining': 'basis' must be work or service, got '{}'", basis);
                   }
                   return std::make_unique<RemainingOrder>(basis == "service");
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
