#include "sim/lost_time.h"

#include <algorithm>

#include "core/index.h"

namespace allot {

void LostTime::Begin(JobIndex job, Seconds now, Seconds ready, double gpus, double progress) {
  End(job, now);
  runs_[At(job)] = {now, ready, gpus, progress};
}

void LostTime::End(JobIndex job, Seconds now) {
  Run& run = runs_[At(job)];
  lost_.restarts += run.gpus * (std::min(now, run.ready) - run.begun);
  lost_.checkpoints += run.gpus * std::max(0.0, now - run.ready) * (1 - run.progress);
  run = {};
}

void LostTime::Redo(JobIndex job, Seconds trained) {
  const Run& run = runs_[At(job)];
  lost_.redone += run.gpus * trained * run.progress;
}

}  // namespace allot
