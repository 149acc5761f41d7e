// Nothing changes but what throughput models say: the rate of a table is the same from the first to
// the last unit of work.

#include "sim/job_process.h"

namespace allot {
namespace {

ALLOT_REGISTER(ProcessInfo, (ProcessInfo{"constant",
                                         "rates change only where a throughput model says so",
                                         {},
                                         [](const Params&) -> ProcessInfo::Maker {
                                           return [](double, ProcessPtr base) { return base; };
                                         }}));

}  // namespace
}  // namespace allot
