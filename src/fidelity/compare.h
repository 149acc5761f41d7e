#pragma once
// Job-by-job comparison of two runs, figure by figure: what the peers' reproductions share.

#include <string>
#include <string_view>

#include "cluster/job_record.h"
#include "fidelity/peer.h"

namespace allot {

double AverageJct(const std::vector<JobRecord>& records);

class JobComparison {
 public:
  // A figure is equal within `tolerance`.
  explicit JobComparison(double tolerance) : tolerance_(tolerance) {}

  // To be called once a job, then Compare for its figures. `time` is where in the run the job shows
  // (its finish); of several differing jobs the one with the least time is named.
  void Job(std::string_view id, double peer_jct_s, double our_jct_s, Seconds time);
  void Compare(std::string_view figure, double peer, double ours);

  // Fills averages, differences and the verdict.
  void Finish(FidelityResult* result) const;

 private:
  double tolerance_;
  std::int64_t jobs_ = 0;
  double peer_sum_ = 0;
  double our_sum_ = 0;
  double difference_sum_ = 0;
  double largest_ = 0;
  std::string job_;
  Seconds time_ = 0;
  Seconds first_time_ = kNever;
  std::string first_;
};

}  // namespace allot
