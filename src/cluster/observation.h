#pragma once
// Everything a policy may see at one decision: a snapshot of cluster and unfinished jobs.
//
// Flat arrays, one element per job ("row"), rows ascending by (submit, JobIndex); a policy's answer
// must not depend on that order. It is a value: copying it freezes the moment. What a policy could
// not know on a real cluster (true remaining work) is not in here; an estimate is, where the run
// provides one.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/cluster_spec.h"
#include "core/types.h"
#include "perf/configuration.h"

namespace allot {

class FreeMap;

// A look at what its owner keeps up to date. A copy looks at nothing, as it may outlive the moment.
template <typename T>
class Look {
 public:
  Look() = default;
  Look(const Look&) {}
  Look& operator=(const Look&) {
    at_ = nullptr;
    return *this;
  }
  Look& operator=(const T* at) {
    at_ = at;
    return *this;
  }
  const T* get() const { return at_; }

 private:
  const T* at_ = nullptr;
};

struct Observation {
  Seconds now = 0;
  Seconds interval = 0;                  // time between scheduled decisions
  std::int64_t decision = 0;             // 0, 1, ... within the episode
  const ClusterSpec* cluster = nullptr;  // at this moment; lives as long as whoever observes it

  // ---- per row ----
  std::vector<JobIndex> job;  // handle, stable for the episode
  std::vector<Seconds> submit;
  std::vector<const ConfigurationTable*> table;  // what the job can be given
  std::vector<std::int32_t> requested;           // its configuration as submitted (fastest type)
  std::vector<std::int32_t> running;             // configuration it runs in, -1: waiting
  std::vector<double> done_work;                 // progress, in the job's unit of work
  std::vector<double> estimated_work;            // estimate of its total work; NaN: none
  std::vector<double> attained_gpu_seconds;      // service so far, GPUs x seconds held
  std::vector<Seconds> attained_seconds;         // service so far, seconds held
  std::vector<Seconds> restart_cost;             // lost by a change of its allocation
  std::vector<std::int32_t> changes;             // allocations begun so far (launches and resizes)
  std::vector<Seconds> waiting_since;            // start of the present wait; now when running
  std::vector<double> priority;                  // larger is more important
  std::vector<Seconds> deadline;                 // absolute; kNever: none
  std::vector<std::int32_t> tenant;
  std::vector<std::int32_t> user;   // who submitted it, -1: unknown; the same for the episode
  std::vector<std::int32_t> group;  // what its user calls alike (application, script), -1: unknown

  // Names by `user` and `group`, where they are known; lists may grow. They live as `cluster` does.
  const std::vector<std::string>* user_names = nullptr;
  const std::vector<std::string>* group_names = nullptr;

  // Present placements: shares of row r are shares[share_begin[r] .. share_begin[r + 1]).
  std::vector<std::int32_t> share_begin;
  std::vector<NodeShare> shares;

  // What the shares leave free of the cluster, where the one who observes it keeps that up to date.
  Look<FreeMap> free;

  std::int32_t rows() const { return static_cast<std::int32_t>(job.size()); }
  std::span<const NodeShare> shares_of(std::int32_t row) const {
    const std::int32_t begin = share_begin[static_cast<std::size_t>(row)];
    const std::int32_t end = share_begin[static_cast<std::size_t>(row) + 1];
    return {shares.data() + begin, static_cast<std::size_t>(end - begin)};
  }
};

// The same answer in full, of one that is given as changes to what the observation shows.
Allocation InFull(const Observation& observation, const Allocation& changes);

// Estimated work left, never 0: an estimate that the job has outlived counts as a tenth of the
// larger of what was estimated and what is done. NaN when there is no estimate.
double EstimatedRemaining(double estimated_work, double done_work);

}  // namespace allot
