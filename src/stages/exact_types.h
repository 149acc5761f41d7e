#pragma once
// The type question as a problem of TypeAssigner (solve/type_assignment.h): a job is worth its
// weight times its rate on a type over its rate on its own best type, both at the size asked about
// (normalised as in Gavel, OSDI'20, section 4.1, but to the job's best). Where a job has no rate it
// does not go. Of equal answers the one that is there already.

#include <vector>

#include "sched/stages.h"
#include "solve/type_assignment.h"

namespace allot {

class ExactTypes {
 public:
  // `by_value`: jobs get in by what they are worth; else by their order. O(rows x types) and what
  // TypeAssigner takes.
  void Assign(const Observation& observation, const TypeQuestion& question, bool by_value,
              std::vector<GpuTypeIndex>* types);

  // Of the last answer, by type and GPU (TypeAssigner::prices).
  std::span<const double> prices() const { return assigner_.prices(); }

 private:
  void Value(const Observation& observation, const TypeQuestion& question, std::size_t place);

  TypeAssigner assigner_;
  std::vector<std::int32_t> capacity_;  // by type
  std::vector<std::int32_t> gpus_;      // by place
  std::vector<double> values_;          // [place][type]
};

}  // namespace allot
