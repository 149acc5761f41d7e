#pragma once
// The table of how users were served, beside the comparison of JCTs: printed by compare and
// evaluate when the workload knows tenants, priorities or deadlines.

#include <vector>

#include "metrics/comparison.h"

namespace allot {

// Whether some run has something to say by user (ServiceSummary::by_user).
bool ServedByUser(const Evaluation& evaluation);

// One row a policy, in the order of `rows`; figures are means over the workloads, deadlines sums.
TextTable ServiceTable(const Evaluation& evaluation, const std::vector<PolicyRow>& rows);

}  // namespace allot
