#include "workload/history.h"

#include <algorithm>
#include <any>

namespace allot {

std::vector<PastRun> PastRuns(const Workload& trace, Seconds until) {
  std::vector<PastRun> runs;
  for (const Job& job : trace.jobs) {
    if (job.submit >= until) break;
    if (job.outcome == Outcome::kPending) continue;
    const Seconds seconds = std::min(job.duration, until - job.submit);
    runs.push_back({job.gpus, job.user, job.group, seconds, job.submit + seconds});
  }
  return runs;
}

std::shared_ptr<const History> HistoryOf(const Params& params, std::string_view name) {
  if (params.Text(name).empty()) return nullptr;
  return std::any_cast<std::shared_ptr<const History>>(params.Load("history", name));
}

}  // namespace allot
