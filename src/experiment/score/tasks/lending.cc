// Rigid jobs on nodes that services lend.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask, GangTask("Lending-v2",
                                   "rigid jobs on nodes that services lend and call back with an "
                                   "hour's notice",
                                   "lending:notice=1h", false));

}  // namespace
}  // namespace allot
