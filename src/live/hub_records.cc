#include "live/hub_records.h"

#include <algorithm>

namespace allot {

JobProgress ProgressOf(const HubJob& job, const std::map<std::string, HubWorker>& workers) {
  JobProgress progress = job.progress;
  std::int64_t least = job.membership.epoch;
  std::int64_t most = -1;
  for (const std::string& member : job.membership.members) {
    const auto worker = workers.find(member);
    if (worker == workers.end()) continue;
    least = std::min(least, worker->second.epoch);
    progress.broken = progress.broken || worker->second.broken == job.membership.epoch;
  }
  // Before anything was announced here, workers of an earlier daemon say what they are in, and what
  // they have heard of: an epoch that is not later says nothing to them.
  for (const std::string& name : job.workers) {
    const HubWorker& worker = workers.at(name);
    most = std::max({most, worker.epoch, worker.told_before});
  }
  progress.epoch = job.membership.epoch < 0 ? most : least;
  return progress;
}

}  // namespace allot
