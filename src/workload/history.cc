#include "workload/history.h"

#include <algorithm>
#include <any>

#include "workload/trace_reader.h"

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

std::vector<std::string> FilesOfHistory(const std::string& history) {
  return history.empty() ? std::vector<std::string>{}
                         : FilesOfTrace(history.substr(0, history.rfind('@')));
}

std::shared_ptr<const History> HistoryOf(const Params& params, std::string_view name) {
  if (params.Text(name).empty()) return nullptr;
  return std::any_cast<std::shared_ptr<const History>>(params.Load("history", name));
}

}  // namespace allot
