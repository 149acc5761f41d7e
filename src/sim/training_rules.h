#pragma once
// How jobs that train applications (perf/application.h) are played. By default as every job whose
// rate changes while it runs: continuously, with the best batch of the moment. Simulators of
// co-adaptive training play them in steps.

#include <string>
#include <utility>
#include <vector>

#include "core/types.h"

namespace allot {

struct TrainingRules {
  // A job advances by whole intervals: it may choose another batch at the end of an epoch and of an
  // interval, and keeps its GPUs to the end of the interval that it ends in.
  bool stepped = false;
  bool whole_seconds = false;  // an epoch takes whole seconds from where it was seen to end
                               // within the interval: rounded, half to even
  // Of the rate of a job on several nodes that has a node with another such job: the lost share.
  double interference = 0;
  bool own_restart = false;  // a restart takes the application's seconds
  bool first_start = false;  // the first start costs a restart, too
  bool free_moves = false;   // other nodes of the same type with as many GPUs each cost nothing,
                             // and a restart in progress goes on
  // Schedulers assume batches up to what the job's user asked for; jobs train with up to their
  // application's.
  bool users_batch = false;
  // Factors on the times of an iteration by application; others have `slowdown`.
  std::vector<std::pair<std::string, double>> slowdowns{};
  double slowdown = 1;

  double SlowdownOf(const std::string& application) const {
    for (const auto& [name, factor] : slowdowns) {
      if (name == application) return factor;
    }
    return slowdown;
  }
};

}  // namespace allot
