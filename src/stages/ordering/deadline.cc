// Earliest deadline first (Liu & Layland, JACM 1973, section 7). Jobs without a deadline come last,
// in order of submission.

#include "stages/key_order.h"

namespace allot {
namespace {

ALLOT_REGISTER(OrderingInfo,
               KeyOrderInfo("deadline", "earliest deadline first",
                            [](const Observation& o, std::size_t row) { return o.deadline[row]; },
                            {"preemptive", "true",
                             "whether a more urgent job may stop a running one"}));

}  // namespace
}  // namespace allot
