// First come, first served.

#include "stages/key_order.h"

namespace allot {
namespace {

double SubmitTime(const Observation& o, std::size_t row) { return o.submit[row]; }

ALLOT_REGISTER(OrderingInfo, ([] {
                 OrderingInfo info =
                     KeyOrderInfo("submit", "earliest submission first", SubmitTime,
                                  {"preemptive", "false",
                                   "whether an older job may stop a backfilled younger one"},
                                  true);
                 info.rates = RatesRead::kNone;
                 return info;
               }()));

}  // namespace
}  // namespace allot
