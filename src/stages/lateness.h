#pragma once
// How late jobs are by now, though it is not known how long they are: the work that an even
// division of the cluster would have done since a job came against what is done, as if the job were
// short for its estimate. It is finish-time fairness rho (Themis, NSDI'20, section 4) at a low
// quantile of the length: an estimate that is several times too long hides nobody.
//
//   (even + c) / (done + c),  c = the larger of kShare of its assumed work, and what it does in
//   kFirst intervals in its smallest configuration: who has just come is not late.

#include <span>
#include <vector>

#include "cluster/observation.h"

namespace allot {

class Lateness {
 public:
  static constexpr double kShare = 0.1;  // e^-2.3: of noisy:0.5, one in 200,000 is shorter
  static constexpr double kFirst = 2;

  void OnEpisodeStart() { jobs_.clear(); }

  // Call it at each decision. `left`: the assumed remaining work by row. An even division gives a
  // job of each type's GPUs its part, and the rate of the concave hull there. O(rows x hull steps).
  void Observe(const Observation& observation, std::span<const double> left);

  // By row of the last Observe: above 1 it is late.
  const std::vector<double>& ratios() const { return ratios_; }

 private:
  struct Job {
    Seconds seen = kNever;
    double even = 0;  // work by an even division
  };
  std::vector<Job> jobs_;  // by JobIndex
  std::vector<double> ratios_;
};

}  // namespace allot
