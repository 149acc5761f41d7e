// Gavel's cluster with jobs of up to eight GPUs.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask, GavelTask("GavelMulti-v1", "Gavel, jobs of up to 8 GPUs, load .87",
                                    "load=.87,multi=true"));

}  // namespace
}  // namespace allot
