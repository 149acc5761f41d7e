// DL2's large cluster, as in its paper.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask, Dl2Task("Dl2M96-v1", "DL2, 96 servers, 60 jobs", "M96"));

}  // namespace
}  // namespace allot
