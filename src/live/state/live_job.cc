#include "live/state/live_job.h"

namespace allot {

bool LiveJob::pinned() const {
  if (over || asked->preempt || asked->mode != ResizeMode::kRestart) return false;
  const std::vector<LiveWorker>& workers = worker_group.workers();
  return std::any_of(workers.begin(), workers.end(),
                     [](const LiveWorker& worker) { return worker.state == WorkerState::kReady; });
}

JobStage LiveJob::stage() const {
  if (!over && asked->state == JobState::kHeld && worker_group.idle()) return JobStage::kHeld;
  return fits() ? worker_group.stage(progress) : JobStage::kFitsNowhere;
}

}  // namespace allot
