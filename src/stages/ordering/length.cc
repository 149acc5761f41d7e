// Shortest job first, by the estimated run time at the requested size.
// Jobs without an estimate come last, in order of submission.

#include "stages/key_order.h"

namespace allot {
namespace {

double EstimatedSeconds(const Observation& o, std::size_t row) {
  return o.estimated_work[row] / (*o.table[row])[o.requested[row]].rate;
}

ALLOT_REGISTER(OrderingInfo, ([] {
                 OrderingInfo info = KeyOrderInfo(
                     "length", "shortest estimated run time at the requested size first",
                     EstimatedSeconds,
                     {"preemptive", "false",
                      "whether a shorter job may stop a running longer one"});
                 info.needs_lengths = true;
                 return info;
               }()));

}  // namespace
}  // namespace allot
