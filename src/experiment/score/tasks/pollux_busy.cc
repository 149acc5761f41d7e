// Pollux's cluster with twice the jobs of its paper.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask, PolluxTask("PolluxBusy-v1", "Pollux, load 2.0", "2.0"));

}  // namespace
}  // namespace allot
