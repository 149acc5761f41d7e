#pragma once
// The type question in numbers: a job is worth its weight times its rate on a type over its rate on
// its own best type, both at the size asked about (normalised as in Gavel, OSDI'20, section 4.1,
// but to the job's best). Where a job has no rate it does not go.
//
// Who runs is worth more on the type where it runs: N / (N - 1), so that a change pays for its
// restart within N times what the restart costs; as is where it costs nothing. And a little more,
// so that of equal answers the one that runs is taken.

#include <vector>

#include "sched/stages.h"
#include "stages/fill/table_facts.h"

namespace allot {

class TypeValues {
 public:
  explicit TypeValues(double pays_within);  // N: 0, or above 1

  // O(rows x types).
  void Read(const Observation& observation, const TypeQuestion& question);

  std::span<const std::int32_t> capacity() const { return capacity_; }  // GPUs, by type
  std::span<const std::int32_t> gpus() const { return gpus_; }          // by place
  std::span<const double> values() const { return values_; }            // [place][type]
  // By place: how many times as much it is worth to go on as it runs now; 1 for who does not run.
  // In values() for the type it runs on.
  std::span<const double> stay() const { return stay_; }

 private:
  void Value(const Observation& observation, const TypeQuestion& question, std::size_t place);

  double pays_ = 1;  // N / (N - 1)
  TableFacts facts_;
  std::vector<std::int32_t> capacity_;
  std::vector<std::int32_t> gpus_;
  std::vector<double> values_;
  std::vector<double> stay_;
};

ParamSpec PaysWithinParam();

}  // namespace allot
