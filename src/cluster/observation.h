#pragma once
// What a policy sees when it decides: the cluster, all unfinished jobs, and what has happened since
// the decision before. The simulator and a real cluster give the same kind of observation.
//
// An observation is a value: a copy stays as it is, but for what it points to. It does not own the
// cluster, the jobs' tables, and the names of users and groups. They belong to whoever made the
// observation, live as long as that, and may change: nodes go, rates of tables are renewed.
//
// One row per job. Every column is a vector with one element per row (cluster/job_columns.h lists
// them, with units). Rows ascend by (submit, job), but a policy's answer must not depend on that.
//
// What nobody can know on a real cluster, the true remaining work above all, is not in here.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/cluster_spec.h"
#include "cluster/events.h"
#include "cluster/free_map.h"
#include "cluster/job_columns.h"
#include "core/types.h"
#include "perf/configuration.h"
#include "workload/communication.h"

namespace allot {

inline constexpr Seconds kGuaranteeStep = 900;
inline constexpr Seconds kGuaranteeShown = 86400;  // how far ahead policies see what is guaranteed

// What a cluster with a topology says of a job and its place.
struct PlaceRow {
  Communication communication{};
  float congestion = 1;  // PlaceFactors::congestion, as far as it is known
};

struct Observation : JobColumns {
  Seconds now = 0;
  Seconds interval = 0;                  // time between scheduled decisions
  std::int64_t decision = 0;             // 0, 1, ... within the episode
  const ClusterSpec* cluster = nullptr;  // as it is now

  // GPUs of nodes that services, or the owner of a live cluster, lend to jobs and may call back;
  // none where nobody does. Element k of `guaranteed`: GPUs that will be lent k times
  // kGuaranteeStep from now, as the lender predicts or the cluster has announced.
  std::optional<GpuCount> lent;
  std::vector<GpuCount> guaranteed;

  Events events;  // since the decision before

  std::vector<JobIndex> partner;  // by row: the job on the same GPUs, or kAlone; empty: all alone

  // By row; empty where the cluster has no topology.
  std::vector<PlaceRow> places;

  // Names by `user` and `group`; null: not known. The lists may grow.
  const std::vector<std::string>* user_names = nullptr;
  const std::vector<std::string>* group_names = nullptr;

  // Where jobs run. Row r holds shares[share_begin[r] .. share_begin[r + 1]).
  std::vector<std::int32_t> share_begin;  // one more than there are rows
  std::vector<NodeShare> shares;

  // What the shares leave free of the cluster. Not there where the observer does not keep it; then
  // a job may also run on GPUs that the cluster has no more.
  std::optional<FreeMap> free;

  JobIndex partner_of(std::int32_t row) const {
    return partner.empty() ? kAlone : partner[static_cast<std::size_t>(row)];
  }
  std::span<const NodeShare> shares_of(std::int32_t row) const {
    const std::int32_t begin = share_begin[static_cast<std::size_t>(row)];
    const std::int32_t end = share_begin[static_cast<std::size_t>(row) + 1];
    return {shares.data() + begin, static_cast<std::size_t>(end - begin)};
  }

  // No rows, before the first Append.
  void ClearJobs() {
    ClearRows();
    partner.clear();
    places.clear();
    shares.clear();
    share_begin.assign(1, 0);
  }
  void Append(const JobRow& row, std::span<const NodeShare> held = {}) {
    AppendRow(row);
    if (!partner.empty()) partner.push_back(kAlone);
    shares.insert(shares.end(), held.begin(), held.end());
    share_begin.push_back(static_cast<std::int32_t>(shares.size()));
  }
};

// The event of the job in this row, if it ended now.
EndedJob EndedAt(const Observation& observation, std::int32_t row, Seconds end);

// The same jobs in another order: row i of the answer is row order[i]. Events too; the numbers of
// jobs stay.
Observation InOrder(const Observation& observation, std::span<const std::int32_t> order);

// Estimated work left, never 0: where a job has done more than was estimated, a tenth of what it
// has done (of the estimate, if that is larger). NaN when there is no estimate.
double EstimatedRemaining(double estimated_work, double done_work);

}  // namespace allot
