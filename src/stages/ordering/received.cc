// Whoever has received least of what an equal share of the cluster would have given it since its
// submission comes first: Gavel's round-based mechanism (Narayanan et al., OSDI'20, section 5),
// which serves the jobs that lag most behind their fractions of time, for equal fractions.

#include "sched/stages.h"
#include "stages/rounds/equal_share.h"

namespace allot {
namespace {

class ReceivedOrder : public Ordering {
 public:
  void Keys(const Observation& o, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    keys->clear();
    for (const std::int32_t row : rows) {
      const auto r = static_cast<std::size_t>(row);
      const Seconds age = o.now - o.submit[r];
      const double due = age * EqualShareRate(o, row, static_cast<std::int32_t>(rows.size()));
      keys->push_back(o.done_work[r] > 0 ? o.done_work[r] / due : 0);
    }
  }
};

ALLOT_REGISTER(OrderingInfo, ([] {
                 OrderingInfo info;
                 info.id = "received";
                 info.summary =
                     "least progress first, against that of an equal share since submission";
                 info.time_driven = true;
                 info.make = [](const Params&) { return std::make_unique<ReceivedOrder>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
