#pragma once
// Whether the jobs of each user need as much as he states of their work (work=). A statement is
// only an estimate: policies favour short jobs, so that it would pay to state little. What was
// stated and what was needed are summed by user, as GPU seconds on the GPUs that jobs ask for;
// sums of a week ago count half. Part of JobTable. A value.

#include <cstdint>

#include "rules/gpu_usage.h"

namespace allot {

class StatedWork {
 public:
  struct Sums {
    double stated = 0;
    double needed = 0;
  };

  void Add(std::int32_t user, const Sums& of_job, Seconds now);

  // By how much the user's statements are to be multiplied. `running`: of his jobs that have
  // already needed more than was stated. 1 for a user who states about rightly, or too much: who
  // gained by that could state little for the next job.
  double FactorOf(std::int32_t user, const Sums& running, Seconds now) const;

  Sums Of(std::int32_t user, Seconds now) const;
  // Calls visit(user, time of the latest job) for each user of whom there are sums.
  template <typename F>
  void ForEachUser(const F& visit) const {
    for (const auto& [submitter, entry] : stated_.entries()) visit(submitter.user, entry.at);
  }

 private:
  static constexpr Seconds kHalfLife = 7 * 86400;
  static constexpr double kTolerance = 1.5;  // a factor below is no error
  GpuUsage stated_{kHalfLife};
  GpuUsage needed_{kHalfLife};
};

}  // namespace allot
