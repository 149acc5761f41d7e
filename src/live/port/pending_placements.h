#pragma once
// Placements that the cluster's scheduler has not started: Slurm leaves a worker pending, or the
// runtime refuses its start. They are taken back after a while, so that no GPUs idle for nothing.
// If the worker may start on other nodes, its user's jobs of this size avoid the node for some
// time, so that the job is tried elsewhere: what does not fit there may be its memory, and says
// nothing of other users' jobs. A job that was tried often backs off, for longer each time. If a
// limit of its user is the reason, or the start was refused, no node is to blame: the job backs off
// at once, and for a while so do the user's other jobs that wait. Part of LiveCluster.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "live/state/live_counts.h"
#include "live/state/state_writer.h"

namespace allot {

class PendingPlacements {
 public:
  PendingPlacements(StateWriter& writer, LiveCounts& counts) : writer_(writer), counts_(counts) {}

  // To be called after each snapshot. True when a decision is due: a placement was taken back, or
  // may be tried again. `answers_since`: since when the runtime answers; no start counts as late
  // before.
  bool Withdraw(Seconds answers_since);

  // Nodes where the job should not be placed for some time.
  std::vector<NodeIndex> AvoidedBy(const LiveJob& job) const;
  // A decision gave the job GPUs where it may not run, and no others are left; `soon`: for now.
  void PlacedNowhere(const LiveJob& job, const std::string& why, bool soon);
  bool BacksOff(const LiveJob& job) const;  // it waits, and is not to be placed now
  bool MayGrow(const LiveJob& job) const;   // false: its latest growth did not start

  // The pending reason of the job's placement, for people; "": it has started.
  std::string ReasonOf(const LiveJob& job) const;

  static constexpr int kTries = 4;              // at once, before the first back-off
  static constexpr Seconds kAvoidFor = 30;      // a node
  static constexpr Seconds kSoon = 5;           // until a job is tried that others leave no room
  static constexpr Seconds kFirstBackOff = 30;  // of a job, doubled each time
  static constexpr Seconds kLongestBackOff = 480;

 private:
  struct Trial {
    int tries = 0;
    GpuCount wanted = 0;  // what could not start as a whole
    Seconds at = 0;       // the latest
    Seconds back_off_until = 0;
    std::string why;
  };
  bool Late(const LiveJob& job, const LiveWorker& worker) const;
  bool LongRefused(const WorkerGroup& group) const;
  bool AvoidNodes(const LiveJob& job, HeldGpus* usable);
  void TakeBack(const LiveJob& job);
  void BackOff(Trial* trial, int tries_at_once) const;  // it was tried once more

  StateWriter& writer_;
  LiveCounts& counts_;
  std::map<JobIndex, Trial> trials_;                     // jobs that could not start, until they do
  using UserAndSize = std::pair<std::string, GpuCount>;  // as requested
  std::map<UserAndSize, std::map<NodeIndex, Seconds>> avoid_until_;
  std::map<std::string, Seconds> user_backs_off_until_;
  Seconds answers_since_ = 0;
};

}  // namespace allot
