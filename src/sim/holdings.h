#pragma once
// The GPUs of each job on a simulated cluster, and the changes that an allocation makes. Most jobs
// keep their GPUs, which is cheap; only changes are validated against the free GPUs.

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/allocation_changes.h"
#include "cluster/free_map.h"
#include "cluster/observation.h"

namespace allot {

class Holdings {
 public:
  struct Change {
    std::int32_t row;
    std::int32_t entry;  // of the allocation; -1: is stopped
  };

  // From the observation's cluster and shares, which are legal. What they leave free is kept up to
  // date in `free`, which outlives this or the next Reset. O(nodes + shares).
  void Reset(const Observation& observation, FreeMap* free);
  // What a row holds comes free: its job has ended.
  void Release(const Observation& observation, std::int32_t row);

  // Finds and takes the allocation's changes, for which `running_rows` (ascending) and the row of
  // each job, -1 for none, are given. False, with nothing taken, where a rule of ValidateAllocation
  // is broken. O(entries + running rows), and the changes' shares.
  bool Take(const Observation& observation, std::span<const std::int32_t> row_of_job,
            std::span<const std::int32_t> running_rows, const Allocation& allocation);
  // The same of an answer as changes, whose `given` the entries are of. O(changes).
  bool TakeChanges(const Observation& observation, std::span<const std::int32_t> row_of_job,
                   const AllocationChanges& changes);
  // Of the last Take, by row.
  const std::vector<Change>& changes() const { return changes_; }

 private:
  void Begin(const Observation& observation);
  std::int32_t Name(std::span<const std::int32_t> row_of_job, JobIndex job);
  bool IsNamed(std::int32_t row) const;
  bool FindGiven(const Observation& observation, std::span<const std::int32_t> row_of_job,
                 const Allocation& given);
  void SortChanges(std::size_t rows);
  bool TakeFound(const Observation& observation, const Allocation& given);
  bool TakeShares(const Observation& observation, std::int32_t row,
                  std::span<const NodeShare> shares, JobIndex partner);
  void ReleaseShares(const Observation& observation, std::int32_t row,
                     std::span<const NodeShare> shares);

  FreeMap* free_ = nullptr;
  std::vector<Change> changes_;
  std::vector<std::uint64_t> named_rows_;    // a bit each
  std::vector<std::uint64_t> changed_rows_;  // a bit each, while many changes are sorted
  std::vector<std::int32_t> entry_of_;       // by changed row
};

}  // namespace allot
