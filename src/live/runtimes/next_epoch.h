#pragma once
// The rule of a hot resize (WorkerGroup): when a job needs another epoch, and its members. Pure.

#include <optional>
#include <string>
#include <vector>

#include "live/runtimes/runtime.h"

namespace allot {

struct EpochFacts {
  Membership latest{-1, {}};       // last announced; epoch -1 before the first
  std::vector<std::string> alive;  // its living members, in rank order
  std::vector<std::string> stay;   // those of them that the target contains
  std::vector<std::string> join;   // wanted workers that have joined and are no members yet
  bool awaited = false;            // more workers will join
  bool impatient = false;          // those that have joined have waited long enough
  bool reached = false;            // all members train in the latest epoch
  bool broken = false;             // members have reported for some time that they cannot train
  bool blocked = false;            // a wanted worker cannot start: its GPUs are not free yet
};

struct NextEpoch {
  Membership membership;
  const char* why;
};

// Nullopt if no epoch is due. While a member lives, the next epoch contains one of the present
// members, so that the training state is passed on.
std::optional<NextEpoch> PlanEpoch(const EpochFacts& facts);

}  // namespace allot
