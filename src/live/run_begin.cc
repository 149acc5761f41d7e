#include "live/run_begin.h"

#include <algorithm>

namespace allot {

double BeginOfRun(const RuntimeSnapshot& snapshot, double now) {
  double begin = now;
  for (const auto& job : snapshot.jobs) {
    const bool over = job->state != JobState::kActive && job->state != JobState::kHeld;
    if (!over && job->submit > 0) begin = std::min(begin, job->submit);  // 0: nobody knows
  }
  return begin;
}

}  // namespace allot
