#pragma once
// Grants of which some are of two jobs on the same GPUs, served by a placement stage, which knows
// jobs alone only: a pair is placed as its first job would be, or stays where it is; then the
// second joins it. Where the nodes lack CPUs or memory for both, the first has the GPUs alone.

#include <span>
#include <vector>

#include "cluster/free_map.h"
#include "sched/stages.h"

namespace allot {

struct PairedGrant {
  std::int32_t row = 0;
  std::int32_t configuration = 0;
  float share = 0;  // of time that it shall have so; 0: no shares are given out
  std::int32_t partner_row = -1;
  std::int32_t partner_configuration = -1;
};

class PairedPlacement {
 public:
  // As Placement::Place. O(grants), and what the placement takes.
  void Place(const Observation& observation, std::span<const PairedGrant> grants,
             Placement* placement, Allocation* allocation);

 private:
  const PairedGrant& GrantTo(const Observation& observation, JobIndex job, std::size_t* next) const;
  void Join(const Observation& observation, std::size_t placed, Allocation* allocation);
  bool Joins(const Observation& observation, const PairedGrant& grant,
             std::span<const NodeShare> shares);

  std::span<const PairedGrant> paired_;
  std::vector<Grant> grants_;
  std::vector<const PairedGrant*> of_entry_;
  FreeMap free_;
};

}  // namespace allot
