// The most important job first, by the priority that its trace gave it; first come, first served
// among equals.

#include "stages/key_order.h"

namespace allot {
namespace {

ALLOT_REGISTER(OrderingInfo,
               KeyOrderInfo("priority", "largest priority first, then earliest submission",
                            [](const Observation& o, std::size_t row) { return -o.priority[row]; },
                            {"preemptive", "true",
                             "whether a more important job may stop a running one"}));

}  // namespace
}  // namespace allot
