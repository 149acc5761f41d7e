#pragma once
// How far each job would be if the cluster had been divided evenly since it came: each of N
// unfinished jobs has 1/N of the GPUs of every type, and of a type's GPUs as much of its time as it
// can use (Themis, NSDI'20; over types: Gavel, OSDI'20, section 4.2). A job that ends when it would
// be at rho there has finish-time fairness rho: above 1 it would have been better off so.

#include <vector>

#include "cluster/observation.h"

namespace allot {

class EvenProgress {
 public:
  void OnEpisodeStart();

  // Call it at each decision. The remaining work of jobs without estimates is AssumedRemaining
  // (length_model/remaining.h). O(rows x types).
  void Observe(const Observation& observation);

  // By row of the last Observe: of the job's work, what the even division would have done since it
  // came less what is done. Above 0: it is behind.
  const std::vector<double>& behind() const { return behind_; }

 private:
  struct Job {
    Seconds seen = kNever;
    double even = 0;  // of its work, by an even division
  };
  std::vector<Job> jobs_;  // by JobIndex
  std::vector<double> behind_;
};

}  // namespace allot
