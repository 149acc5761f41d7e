#include "sweep/window.h"

#include <algorithm>

#include "core/error.h"
#include "core/strings.h"
#include "workload/calendar.h"

namespace allot {
namespace {

JobIndex FirstAtOrAfter(const Workload& workload, Seconds time) {
  const auto at = std::lower_bound(workload.jobs.begin(), workload.jobs.end(), time,
                                   [](const Job& job, Seconds t) { return job.submit < t; });
  return static_cast<JobIndex>(at - workload.jobs.begin());
}

}  // namespace

std::optional<TrackedJobs> ResolveWindow(const std::map<std::string, std::string>& window,
                                         const Workload& workload) {
  if (window.empty()) return std::nullopt;
  const auto& [kind, text] = *window.begin();
  const auto jobs = static_cast<JobIndex>(workload.jobs.size());
  TrackedJobs tracked{0, jobs - 1};
  const std::size_t dots = text.find("..");
  if (kind == "warm-up") {
    tracked.first =
        FirstAtOrAfter(workload, workload.jobs.front().submit + ParseWhen(workload, text));
  } else if (dots == std::string::npos) {
    throw UsageError("--{} must be FIRST..LAST, got '{}'", kind, text);
  } else if (kind == "window-time") {
    tracked.first = FirstAtOrAfter(workload, ParseWhen(workload, text.substr(0, dots)));
    tracked.last = FirstAtOrAfter(workload, ParseWhen(workload, text.substr(dots + 2))) - 1;
  } else {
    const auto first = ParseInteger(text.substr(0, dots));
    const auto last = ParseInteger(text.substr(dots + 2));
    if (!first || !last || *first < 0 || *last < *first) {
      throw UsageError("--{} must be FIRST..LAST of job positions from 0, got '{}'", kind, text);
    }
    if (*last >= jobs) {
      throw UsageError("--{} {} needs at least {} jobs, workload '{}' has {}", kind, text,
                       *last + 1, workload.name, jobs);
    }
    tracked = {static_cast<JobIndex>(*first), static_cast<JobIndex>(*last)};
  }
  if (tracked.last < tracked.first) {
    throw UsageError("--{} {} must hold at least 1 job, got none of the {} of workload '{}'", kind,
                     text, jobs, workload.name);
  }
  return tracked;
}

}  // namespace allot
