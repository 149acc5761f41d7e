// DL2's small cluster. A workload has only ten jobs, so that many workloads are played.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ScoreTask Dl2STask() {
  ScoreTask task = Dl2Task("Dl2S-v1", "DL2, 6 servers, 10 jobs", "S");
  task.workloads = 64;
  task.small = true;
  return task;
}

ALLOT_REGISTER(ScoreTask, Dl2STask());

}  // namespace
}  // namespace allot
