#include "live/runtimes/next_epoch.h"

namespace allot {
namespace {

bool IsDue(const EpochFacts& facts, bool lost, bool leaves) {
  const bool as_many_as_come = !facts.awaited || facts.impatient;
  if (facts.alive.empty()) return as_many_as_come;
  if (lost) return true;
  const bool settled = facts.join.empty() && !leaves;
  const bool makes_room = leaves && facts.blocked && !facts.stay.empty();
  return !settled && facts.reached && (as_many_as_come || makes_room);
}

}  // namespace

std::optional<NextEpoch> PlanEpoch(const EpochFacts& facts) {
  const std::vector<std::string>& before = facts.latest.members;
  const bool lost = facts.alive.size() < before.size() || facts.broken;
  const bool leaves = facts.stay.size() < facts.alive.size();
  if (!IsDue(facts, lost, leaves)) return std::nullopt;
  NextEpoch next{.membership = {.epoch = facts.latest.epoch + 1, .members = {}},
                 .why = lost     ? "a member was lost"
                        : leaves ? "workers leave"
                                 : "workers join"};
  // If no member stays, the leaving ones first pass their state on in a common epoch.
  std::vector<std::string>& members = next.membership.members;
  members = facts.stay.empty() ? facts.alive : facts.stay;
  members.insert(members.end(), facts.join.begin(), facts.join.end());
  if (members.empty() || (!lost && members == before)) return std::nullopt;
  return next;
}

}  // namespace allot
