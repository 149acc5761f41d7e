// Gavel's cluster with jobs of one GPU.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask, GavelTask("Gavel-v1", "Gavel, jobs of one GPU, load .83", "load=.83"));

}  // namespace
}  // namespace allot
