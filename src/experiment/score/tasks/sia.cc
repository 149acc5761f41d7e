// Sia's cluster (Jayaram Subramanya et al., SOSP 2023): as Pollux's world, on three GPU types.

#include "experiment/score/score_task.h"

namespace allot {
namespace {

ScoreTask SiaTask() {
  ScoreTask task;
  task.id = "Sia-v1";
  task.summary = "Sia's cluster, load 1.0";
  task.train = task.validation = task.test = "sia:load=1.0";
  task.rules = {"sia", "pollux"};
  return task;
}

ALLOT_REGISTER(ScoreTask, SiaTask());

}  // namespace
}  // namespace allot
