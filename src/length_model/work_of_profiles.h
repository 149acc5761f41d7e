#pragma once
// How much work jobs have left, as far as earlier jobs of the same throughput profile tell: who
// trains the same model needs about as much. Learned from the run itself, without estimates.
//
// Of the last jobs of the profile that ended, those that had done more than this one: the mean of
// what was left to them, which is the conditional mean of the empirical distribution. Where there
// is none, a job is taken to need twice what any job of its profile has done so far (the median of
// a Pareto tail of index 1): who trains the same as a job that has run for a day is not short.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/observation.h"

namespace allot {

class WorkOfProfiles {
 public:
  void OnEpisodeStart();
  // At every decision, before it is asked. O(rows).
  void Observe(const Observation& observation);

  // In the job's unit of work, at least one interval at the table's reference rate. O(kKept).
  double Remaining(const Observation& observation, std::int32_t row) const;

  static constexpr std::size_t kKept = 64;  // jobs of a profile, the last ones

 private:
  struct Profile {
    std::array<double, kKept> work{};
    std::size_t ended = 0;
    double most = 0;  // done by any job of it
  };
  static constexpr std::int32_t kUnmet = -1;

  std::map<std::string, std::int32_t> by_name_;
  std::vector<Profile> profiles_;
  std::vector<std::int32_t> of_job_;  // by JobIndex
  EventCursor events_;
};

}  // namespace allot
