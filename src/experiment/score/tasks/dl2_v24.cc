// DL2's busy cluster with jobs of varied lengths.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask,
               Dl2Task("Dl2V24-v1", "DL2, 24 servers, 120 jobs of varied lengths", "V24"));

}  // namespace
}  // namespace allot
