// Philly with rigid jobs of unknown length.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ScoreTask PhillyRigidTask() {
  ScoreTask task = RigidTask(
      "PhillyRigid-v1", "Philly, rigid jobs of unknown length", "embedded", PhillyWindows(),
      "lengths=none",
      "index:basis=gittins,alpha=0.6,beta=0.3,kappa=0.6,rank=0.25,history=embedded@2017-11-13");
  task.small = true;
  return task;
}

ALLOT_REGISTER(ScoreTask, PhillyRigidTask());

}  // namespace
}  // namespace allot
