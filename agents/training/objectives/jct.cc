// The mean job completion time.

#include "agents/training/objective.h"

namespace allot {
namespace {

ALLOT_REGISTER(ObjectiveInfo,
               (ObjectiveInfo{"jct", "mean job completion time",
                              [](const Played& p) { return TrimmedMean(p.jct, 1); }}));

}  // namespace
}  // namespace allot
