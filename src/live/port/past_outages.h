#pragma once
// What a daemon without a journal believes of its nodes at first: how often they fail, and which
// are on probation, by the outages that the cluster's scheduler remembers (Runtime). Used by
// LiveCluster.

#include <span>

#include "live/runtimes/runtime_snapshot.h"
#include "live/state/records.h"

namespace allot {

// Of a cluster of so many nodes, which are taken to have been there since the first outage. `now`
// and `origin`, time 0 of the journal, are Unix times.
record::NodesBefore SumUpOutages(std::span<const PastOutage> outages, std::size_t nodes, double now,
                                 double origin);

}  // namespace allot
