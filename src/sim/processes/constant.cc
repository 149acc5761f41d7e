// Every job runs at the rate of its table, from its first to its last unit of work.

#include "sim/job_process.h"

namespace allot {
namespace {

ALLOT_REGISTER(ProcessInfo, (ProcessInfo{"constant",
                                         "the rate of a configuration never changes",
                                         {},
                                         [](const Params&) -> ProcessInfo::Maker {
                                           return [](double) { return nullptr; };
                                         }}));

}  // namespace
}  // namespace allot
