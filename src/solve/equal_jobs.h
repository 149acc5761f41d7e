#pragma once
// Jobs that a problem of shares cannot tell apart, found in O(jobs types).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "solve/block_problem.h"
#include "solve/share_problem.h"

namespace allot::internal {

struct EqualJobs {
  std::vector<std::int32_t> class_of;  // by job
  std::vector<std::size_t> first;      // by class: its first job; classes in order of these
  std::vector<double> count;           // by class: its jobs

  std::size_t classes() const { return first.size(); }
};

// Equal in rates, GPUs, weight and in `further` (numbers of each job, one after the other; as many
// for each).
EqualJobs FindEqualJobs(const ShareProblem& problem, std::span<const double> further = {});

// One block a class: its rates, and as much capacity as all its jobs need. Nothing is asked yet.
BlockProblem BlocksOf(const ShareProblem& problem, const EqualJobs& equal);

// Every job gets the share of its class.
std::vector<double> SharesOfJobs(const EqualJobs& equal, std::span<const double> of_classes,
                                 std::size_t types);

}  // namespace allot::internal
