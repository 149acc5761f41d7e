#pragma once
// Finds jobs that have the same id while jobs are added to a workload. A table of positions only:
// the ids stay in the jobs, so that a million jobs take some megabytes more, not a hundred.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/job.h"

namespace allot {

class JobIds {
 public:
  // `expected`: how many jobs there will be, where that is known; more only take longer.
  explicit JobIds(std::size_t expected = 0);

  // Enters jobs[position], which must be the next position. If an earlier job has its id, returns
  // that job's position and enters nothing. O(1) on average.
  std::optional<std::size_t> Enter(const std::vector<Job>& jobs, std::size_t position);

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};

  // The slot that holds the id, or the free one in which it belongs.
  std::size_t SlotOf(const std::vector<Job>& jobs, std::string_view id) const;
  void Grow(const std::vector<Job>& jobs);

  // Open addressing, at most half full. The size is a power of two.
  std::vector<std::uint32_t> slots_;
  std::size_t entered_ = 0;
};

}  // namespace allot
