#pragma once
// The rules of a legal allocation, pure; every cluster and the action mask use these.

#include <cstdint>

#include "cluster/allocation.h"
#include "cluster/observation.h"
#include "core/error.h"

namespace allot {

// Checks: entries name rows of the observation, each job once; configurations exist in the job's
// table; shares add up to the configuration's units, sit on nodes of its GPU type and on as many
// nodes as its span says, name GPUs that the node has, as many as the units demand; no GPU, CPU or
// memory is given twice, but for GPUs of two jobs that name each other as partners, as both their
// configurations say, and hold the same ones. What a job holds
// already is taken to add up. The message names rule and values. O(rows + shares), and no memory is
// allocated once a thread has seen the cluster and the workload.
Status ValidateAllocation(const Observation& observation, const Allocation& allocation);

// Of these, the rules that concern an entry of the job in `row` by itself.
Status ValidateEntry(const Observation& observation, std::int32_t row, const Allocation& allocation,
                     const Allocation::Entry& entry);

// Whether the job in `row` runs just so already.
inline bool HoldsAlready(const Observation& observation, std::int32_t row,
                         const Allocation& allocation, const Allocation::Entry& entry) {
  if (entry.configuration < 0 ||
      entry.configuration != observation.running[static_cast<std::size_t>(row)]) {
    return false;
  }
  // A partner may leave: then the other goes on as it is, alone.
  if (entry.partner != kAlone && entry.partner != observation.partner_of(row)) return false;
  const auto shares = allocation.shares(entry);
  const auto held = observation.shares_of(row);
  if (shares.size() != held.size()) return false;
  for (std::size_t s = 0; s < held.size(); ++s) {
    if (!(shares[s] == held[s])) return false;
  }
  return true;
}

}  // namespace allot
