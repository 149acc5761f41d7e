#pragma once
// What a decision gave and the cluster does not begin with: Slurm leaves a worker pending, or the
// runtime refuses its start. It is taken back after a while, so that the GPUs are not idle for
// nothing. Where another node may begin with it, its nodes are avoided by decisions for some time,
// so that the job is tried on others; one that was tried often rests, for longer each time. Where
// it is a limit of its user's, or the start was refused, no node is to blame: the job rests at
// once, and its user's other jobs that wait rest a while, too. LiveCluster is the only caller.

#include <map>
#include <set>
#include <string>

#include "live/state/live_counts.h"
#include "live/state/state_writer.h"

namespace allot {

class StuckStarts {
 public:
  StuckStarts(StateWriter& writer, LiveCounts& counts) : writer_(writer), counts_(counts) {}

  // After each snapshot. True when a decision is due: something was taken back, or may be tried
  // again. `answers_since`: the runtime; before that no start is late, for nobody could begin it.
  bool Withdraw(Seconds answers_since);

  const std::set<NodeIndex>& avoided() const { return avoided_; }
  // A decision gave it GPUs where it may not run, and none of those where it may were left.
  void NoPlace(const LiveJob& job, const std::string& why);
  bool rests(const LiveJob& job) const;     // it waits, and is not to be placed now
  bool may_grow(const LiveJob& job) const;  // it runs, and its latest growth did not fail just now

  // Why the cluster has not begun with what the job was given, in its words; "": it has.
  std::string ReasonOf(const LiveJob& job) const;

  static constexpr int kTries = 4;           // at once, before the first rest
  static constexpr Seconds kAvoidFor = 30;   // a node
  static constexpr Seconds kFirstRest = 30;  // of a job, doubled each time
  static constexpr Seconds kLongestRest = 480;

 private:
  struct Trial {
    int tries = 0;
    GpuCount wanted = 0;  // what could not begin as a whole
    Seconds at = 0;       // the latest
    Seconds rest_until = 0;
    std::string why;
  };
  bool Late(const LiveJob& job, const LiveWorker& worker) const;
  bool LongRefused(const WorkerGroup& group) const;
  bool LeaveNodes(const LiveJob& job, HeldGpus* usable);
  void TakeBack(const LiveJob& job);
  void LetRest(Trial* trial, int tries_at_once) const;  // it was tried once more

  StateWriter& writer_;
  LiveCounts& counts_;
  std::map<JobIndex, Trial> trials_;  // jobs that could not begin, until they do
  std::map<NodeIndex, Seconds> avoid_until_;
  std::map<std::string, Seconds> user_rests_until_;
  std::set<NodeIndex> avoided_;
  Seconds answers_since_ = 0;
};

}  // namespace allot
