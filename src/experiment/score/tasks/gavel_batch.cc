// Gavel's cluster and a batch of jobs.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ScoreTask GavelBatchTask() {
  ScoreTask task =
      GavelTask("GavelBatch-v1", "Gavel, a batch of 350 jobs, noisy estimates of lengths",
                "batch=true,jobs=350,lengths=noisy:0.5");
  task.small = true;
  return task;
}

ALLOT_REGISTER(ScoreTask, GavelBatchTask());

}  // namespace
}  // namespace allot
