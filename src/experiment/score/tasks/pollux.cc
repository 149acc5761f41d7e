// Pollux's cluster at the load of its paper.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask, PolluxTask("Pollux-v1", "Pollux, load 1.0", "1.0"));

}  // namespace
}  // namespace allot
