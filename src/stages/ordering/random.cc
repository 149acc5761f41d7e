// Jobs in a random order, which stays the same for the whole episode: the baseline that knows
// nothing of jobs.

#include "core/rng.h"
#include "stages/key_order.h"

namespace allot {
namespace {

double DrawnKey(const Observation& o, std::size_t row) {
  return Rng(static_cast<std::uint64_t>(o.job[row]), "random-order").Uniform();
}

ALLOT_REGISTER(OrderingInfo, ([] {
                 OrderingInfo info =
                     KeyOrderInfo("random", "random order, fixed for each job", DrawnKey,
                                  {"preemptive", "false",
                                   "whether a job may stop a running one that comes later"},
                                  true);
                 info.rates = RatesRead::kNone;
                 return info;
               }()));

}  // namespace
}  // namespace allot
