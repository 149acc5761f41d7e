#pragma once
// The table of use and queueing by GPU type, beside the comparison: printed and in the report where
// a cluster has several types, because its mean use hides that the queue of one type grows.

#include <vector>

#include "metrics/comparison.h"

namespace allot {

bool HasTypes(const Evaluation& evaluation);

// One row a policy, in the order of `rows`; two columns a type: its use, and the mean queueing of
// the jobs that need it. Figures are means over the workloads. Of many types those of most demand.
TextTable TypeTable(const Evaluation& evaluation, const std::vector<PolicyRow>& rows);

}  // namespace allot
