// Language models that train by the best plan at every number of GPUs (docs/plans.md).

#include "experiment/score/score_task.h"

namespace allot {
namespace {

ScoreTask PlansTask() {
  ScoreTask task;
  task.id = "Plans-v2";  // the first version of it, in the suite that came second
  task.summary = "language models on 256 H100, load 1.0; plans are known, lengths noisy";
  task.train = task.validation = task.test = "llm:gpus=256,load=1,plans=aware,jobs=260";
  task.rules = {"after-rubick", "optimus", "srtf", "las", "tiresias", "gittins", "drf"};
  return task;
}

ALLOT_REGISTER(ScoreTask, PlansTask());

}  // namespace
}  // namespace allot
