#pragma once
// The type question in numbers: a job is worth its weight times its rate on a type over its rate on
// its own best type, both at the size asked about (normalised as in Gavel, OSDI'20, section 4.1,
// but to the job's best). Where a job has no rate it does not go.
//
// Who runs is worth more on the type where it runs: H / (H - r), r its restart cost, so that a
// change pays for its restart within H seconds. And a little more, so that of equal answers the one
// that runs is taken.

#include <vector>

#include "sched/stages.h"

namespace allot {

class TypeValues {
 public:
  explicit TypeValues(Seconds pays_within) : pays_within_(pays_within) {}

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

  Seconds pays_within_;  // 0: changes cost nothing
  std::vector<std::int32_t> capacity_;
  std::vector<std::int32_t> gpus_;
  std::vector<double> values_;
  std::vector<double> stay_;
};

inline constexpr const char* kPaysWithinHelp =
    "seconds within which a change of type must pay for its restart; 0: changes cost nothing";

}  // namespace allot
