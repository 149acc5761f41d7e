// Philly with rigid jobs and noisy estimates of their lengths.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask,
               RigidTask("PhillyRigidNoisy-v1", "Philly, rigid jobs, noisy estimates of lengths",
                         "embedded", PhillyWindows(), "lengths=noisy:0.5",
                         "index:alpha=0.6,beta=0.3,kappa=0.15"));

}  // namespace
}  // namespace allot
