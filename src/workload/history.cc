#include "workload/history.h"

#include <algorithm>
#include <utility>

#include "workload/calendar.h"
#include "workload/trace_reader.h"

namespace allot {

std::vector<PastRun> PastRuns(const Workload& trace, Seconds until) {
  std::vector<PastRun> runs;
  for (const Job& job : trace.jobs) {
    if (job.submit >= until) break;
    runs.push_back({job.gpus, job.user, job.group, std::min(job.duration, until - job.submit)});
  }
  return runs;
}

History ReadHistory(const std::string& history) {
  const std::size_t at = history.rfind('@');
  Workload trace = ReadTrace(history.substr(0, at));
  const Seconds until = at == std::string::npos ? kNever : ParseWhen(trace, history.substr(at + 1));
  return {std::move(trace), until};
}

}  // namespace allot
