#include "live/state/run_begin.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <exception>

namespace allot {

double BeginOfRun(const RuntimeSnapshot& snapshot, double now) {
  double begin = now;
  for (const auto& job : snapshot.jobs) {
    if (!job->over() && job->submit > 0) begin = std::min(begin, job->submit);  // 0: unknown
  }
  return begin;
}

RunBegin FindRunBegin(const std::vector<TimedRecord>& past, Runtime& runtime,
                      const LiveClock::Source& time) {
  RunBegin begin;
  for (const TimedRecord& one : past) {
    begin.last = std::max(begin.last, one.at);
    if (const auto* serve = std::get_if<record::Serve>(&one.record)) begin.origin = serve->origin;
  }
  if (!std::isnan(begin.origin)) return begin;
  try {
    begin.first = runtime.TakeSnapshot();
    begin.origin = BeginOfRun(*begin.first, time.wall());
  } catch (const std::exception& error) {
    spdlog::warn("runtime unreachable, so the ages of its jobs begin now: {}", error.what());
  }
  return begin;
}

}  // namespace allot
