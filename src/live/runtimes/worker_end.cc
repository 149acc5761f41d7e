#include "live/runtimes/worker_end.h"

#include <utility>

namespace allot {

bool IsWorkerOf(std::string_view worker, std::string_view job) {
  if (job.empty() || !worker.starts_with(job)) return false;
  worker.remove_prefix(job.size());
  return worker.size() > 1 && worker.front() == '.' &&
         worker.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

WorkerVerdict JudgeWorkerEnd(const WorkerEndFacts& f) {
  if (f.job_over || f.stopped || f.exit == WorkerExit::kCancelled) return {WorkerEnd::kMeant};
  if (f.exit == WorkerExit::kFailure) return {WorkerEnd::kFailed};
  if (f.mode == ResizeMode::kRestart) return {WorkerEnd::kFinished};
  if (!f.watched) return {WorkerEnd::kMeant};
  if (!f.joined) return {WorkerEnd::kFailed, ", before it had joined"};
  if (!f.announced) return {WorkerEnd::kFailed, ", before there was an epoch"};
  if (f.member) return {WorkerEnd::kFailed, ", as a member of the latest epoch"};
  return {WorkerEnd::kMeant};
}

void SetEnded(const WorkerVerdict& verdict, std::string reason, RuntimeWorker* worker) {
  worker->state = WorkerState::kEnded;
  worker->failed = verdict.failed();
  worker->reason = std::move(reason) + verdict.note;
}

}  // namespace allot
