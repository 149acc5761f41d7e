#include "live/state/live_job.h"

namespace allot {

bool LiveJob::pinned() const {
  if (over || asked->preempt || asked->mode != ResizeMode::kRestart) return false;
  const std::vector<LiveWorker>& workers = worker_group.workers();
  return std::any_of(workers.begin(), workers.end(),
                     [](const LiveWorker& worker) { return worker.state == WorkerState::kReady; });
}

void LiveJob::SetState(JobState state) {
  if (asked->state == state) return;
  auto changed = std::make_shared<RuntimeJob>(*asked);
  changed->state = state;
  asked = std::move(changed);
}

JobStage LiveJob::stage() const {
  if (!over && asked->state == JobState::kHeld && worker_group.idle()) return JobStage::kHeld;
  return fits ? worker_group.stage(progress) : JobStage::kFitsNowhere;
}

}  // namespace allot
