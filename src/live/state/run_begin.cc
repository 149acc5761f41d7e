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

JournalTimes TimesOf(const std::vector<TimedRecord>& past) {
  JournalTimes times;
  for (const TimedRecord& one : past) {
    times.last = std::max(times.last, one.at);
    const auto* serve = std::get_if<record::Serve>(&one.record);
    if (serve != nullptr && !std::isnan(serve->origin)) times.origin = serve->origin;
  }
  return times;
}

RunBegin FindRunBegin(const std::vector<TimedRecord>& past, Runtime& runtime,
                      const LiveClock::Source& time) {
  const JournalTimes times = TimesOf(past);
  RunBegin begin;
  begin.last = times.last;
  if (times.origin) {
    begin.origin = *times.origin;
    const Seconds ahead = times.AheadOf(time.wall());
    if (ahead < kLeastJump) return begin;
    spdlog::warn(
        "the journal ends {:.0f} s in the future: the clock was ahead when an earlier daemon "
        "started, or is behind now; ages of jobs are corrected by that",
        ahead);
    begin.origin -= ahead;
    return begin;
  }
  try {
    begin.first = runtime.TakeSnapshot();
    begin.origin = BeginOfRun(*begin.first, time.wall());
  } catch (const std::exception& error) {
    spdlog::warn("runtime unreachable, so the ages of its jobs begin now: {}", error.what());
  }
  return begin;
}

}  // namespace allot
