#pragma once
// When a hot job is due for another epoch, and who is a member of it: the rule of a hot resize
// (live/workers/worker_group.h). Pure.

#include <optional>
#include <string>
#include <vector>

#include "live/runtimes/runtime.h"

namespace allot {

struct EpochFacts {
  Membership latest{-1, {}};       // that was announced; epoch -1: none was
  std::vector<std::string> alive;  // of its members, in rank order
  std::vector<std::string> stay;   // of these, who are wanted where they are
  std::vector<std::string> join;   // who have joined, are wanted, and are no members
  bool awaited = false;            // more are to join
  bool impatient = false;          // those that have joined have waited long enough
  bool reached = false;            // all members train in the latest
  bool broken = false;             // members say, and have said for long, that they cannot train
  bool blocked = false;  // a worker that is wanted cannot start: others have its GPUs still
};

struct NextEpoch {
  Membership membership;
  const char* why;  // for people
};

// While a member lives, the next epoch has one of the members before, so that the training state is
// handed on. nullopt: none is due.
std::optional<NextEpoch> PlanEpoch(const EpochFacts& facts);

}  // namespace allot
