// From the first submission to the end of the last job.

#include <algorithm>

#include "agents/training/objective.h"

namespace allot {
namespace {

ALLOT_REGISTER(ObjectiveInfo, (ObjectiveInfo{"makespan", "first submission to last completion",
                                             [](const Played& p) {
                                               const Seconds first = p.records.front().submit;
                                               Seconds last = first;
                                               for (std::size_t i = 0; i < p.jct.size(); ++i) {
                                                 last =
                                                     std::max(last, p.records[i].submit + p.jct[i]);
                                               }
                                               return last - first;
                                             }}));

}  // namespace
}  // namespace allot
