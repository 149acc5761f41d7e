#pragma once
// A type question about jobs that can grow. At the sizes that a greedy fill gave them GPUs of some
// type may be idle, because all jobs began on another: then types are assigned for sizes that would
// fill the cluster, as large as can be placed.

#include <functional>
#include <vector>

#include "sched/stages.h"

namespace allot {

class SizedTypes {
 public:
  // `sizes`: of question.order, changed to those that types were assigned for; `granted`: who had
  // been given that, and must not lose it. `weigh` sets the weights of the question, whose sizes
  // are set. Some calls of Assign.
  void Assign(TypeAssignment* assignment, const Observation& observation, TypeQuestion question,
              std::span<const char> granted, std::vector<std::int32_t>* sizes,
              const std::function<void(TypeQuestion*)>& weigh, std::vector<GpuTypeIndex>* types);

 private:
  std::vector<std::int32_t> larger_;
};

// Whether the job has one size only, whatever the type.
bool HasOneSize(const ConfigurationTable& table);

// The size of a job that was granted nothing, for a type question: the smallest.
std::int32_t SmallestSize(const ConfigurationTable& table);

}  // namespace allot
