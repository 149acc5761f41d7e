#pragma once
// Hot jobs of which no worker has ever joined: whether they will train is not known. So that they
// take little from others, such a job is offered its least size, or free GPUs where these are more,
// and does not grow. If its workers are late once, it gives its GPUs back, backs off, for longer
// each time, and is offered free GPUs only. Restarted and counted jobs do not join: the cluster
// itself shows whether they run. Part of LiveCluster.

#include <map>
#include <optional>
#include <string>

#include "live/state/state_writer.h"

namespace allot {

class Newcomers {
 public:
  explicit Newcomers(StateWriter& writer) : writer_(writer) {}

  static bool Has(const LiveJob& job) {
    return job.asked->mode == ResizeMode::kHot && job.worker_group.membership().epoch < 0;
  }

  // Takes back the GPUs of those whose workers were late. To be called after each snapshot. True
  // when a decision is due, also because a back-off has ended or a job has joined.
  bool TakeBackLate();

  // Why its GPUs were taken back, for its user; "": they were not.
  std::string TroubleOf(const LiveJob& job) const;
  // Why the job, which waits and needs so many GPUs at least, may not start with `free` GPUs.
  std::optional<std::string> WhyNot(const LiveJob& job, GpuCount least, GpuCount free) const;

  static constexpr Seconds kFirstBackOff = 30;  // doubled each time
  static constexpr Seconds kLongestBackOff = 480;

 private:
  struct Trial {
    int late_tries = 0;  // of its workers, when its GPUs were taken back
    int tries = 0;       // that were too late
    Seconds back_off_until = 0;
    std::string why;  // it was too late, for people
  };
  StateWriter& writer_;
  std::map<JobIndex, Trial> trials_;  // of those that were ever given GPUs
};

}  // namespace allot
