#pragma once
// The table of how users were served, beside the comparison of JCTs: printed by compare and
// evaluate when the workload knows tenants, priorities or deadlines, and always in the report.

#include <vector>

#include "metrics/comparison.h"

namespace allot {

// True if some run has measures of service; true if it has some by user.
bool HasService(const Evaluation& evaluation);
bool ServedByUser(const Evaluation& evaluation);

// One row a policy, in the order of `rows`; figures are means over the workloads, deadlines sums.
TextTable ServiceTable(const Evaluation& evaluation, const std::vector<PolicyRow>& rows);

// One row a tenant, those of most jobs first, one column a policy: the tenant's share of the GPU
// time and its mean rho.
bool HasTenants(const Evaluation& evaluation);
TextTable TenantTable(const Evaluation& evaluation, const std::vector<PolicyRow>& rows);

}  // namespace allot
