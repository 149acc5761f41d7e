#pragma once
// A cluster of real machines as the driver sees it: the Observation is of the same kind as the
// simulator's, built from what the runtime shows and what the last decisions gave; Apply sets what
// every job is to have, and from then on, at every look, each job's group (live/worker_group.h) is
// moved towards that, whatever dies in between. Everything that changes is in the journal before it
// is done. Made by the daemon (live/daemon.h); one thread.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/cluster_port.h"
#include "live/clock.h"
#include "live/journal.h"
#include "live/live_state.h"
#include "live/runtime.h"

namespace allot {

struct LiveOptions {
  Seconds interval = 10;         // between scheduled decisions
  Seconds poll = 0.1;            // between polls of the runtime
  bool decide_on_events = true;  // also when a job arrives or ends, or a node comes or goes
  bool dry_run = false;          // decides, starts nothing and writes no journal
  bool until_idle = false;       // ends when no job is left
  JobTable::Options job_table{};
};

// Counts for metrics and the status, of this daemon.
struct LiveCounts {
  std::int64_t polls = 0;
  std::int64_t failed_polls = 0;  // the runtime could not be asked
  std::int64_t gives = 0;
  std::int64_t takes = 0;
  std::int64_t workers_started = 0;
  std::int64_t workers_failed = 0;
  std::int64_t epochs = 0;
  std::int64_t resizes = 0;  // of running jobs, that came to train
  double resize_seconds = 0;
  Seconds last_resize = 0;
};

class LiveCluster : public ClusterPort {
 public:
  // `past`: of the journal; what it tells is believed where the runtime does not contradict it.
  // `journal` null: dry run. All outlive the cluster.
  LiveCluster(Runtime& runtime, Journal* journal, const LiveClock& clock, LiveOptions options,
              const std::vector<JournalRecord>& past);

  const Observation& Observe() const override { return observation_; }
  Status Validate(const Allocation& allocation) const override;
  ApplyReport Apply(const Allocation& allocation) override;
  // False when stopped, interrupted, or (until_idle) nothing is left to do.
  bool WaitForChange(Seconds holds_until) override;

  // One look at the runtime, and what is to be done now. True when something happened that asks
  // for a decision. WaitForChange looks by itself.
  bool PollRuntime();

  // Waits for the first job; false as WaitForChange.
  bool WaitForJobs();

  // Called at every look, after it: the daemon answers its users.
  void OnPoll(std::function<void()> listener) { on_poll_ = std::move(listener); }

  void Pause();                             // no decisions; what runs goes on, and is repaired
  void Resume();                            // undoes Pause and all Drains
  void Drain();                             // no job begins; those that run go on
  void DrainNode(const std::string& node);  // as if it were down. UsageError when unknown

  // By its user; its workers leave as after any end. UsageError when unknown, RunError when
  // refused.
  void Cancel(const std::string& job);

  // The end of all workers, for a daemon that is to leave nothing behind; returns when they are
  // gone, or after `at_most`.
  void StopAllJobs(Seconds at_most);

  const LiveState& state() const { return state_; }
  const LiveCounts& counts() const { return counts_; }
  Seconds now() const { return clock_.Now(); }
  double origin() const { return clock_.origin(); }  // Unix time of 0
  const LiveOptions& options() const { return options_; }

 private:
  void Write(const char* what, JournalRecord fields);
  bool UpdateNodes(const RuntimeSnapshot& snapshot);
  bool UpdateJobs(const RuntimeSnapshot& snapshot);
  void UpdateWorkers(const RuntimeSnapshot& snapshot);
  bool ReleaseDownNodes();
  void Measure(Seconds before);
  void Advance();
  void WriteDown(const LiveJob& job, const WorkerAction& action);
  void Do(LiveJob& job, const WorkerAction& action);
  void AnnounceAgain();
  void AnnounceLatest(const LiveJob& job);
  void End(LiveJob& job, JobState state, const std::string& reason);
  bool Hidden(const LiveJob& job) const;
  void Refresh(bool next_decision);
  bool Over() const;

  Runtime& runtime_;
  Journal* journal_;
  const LiveClock& clock_;
  LiveOptions options_;
  LiveState state_;
  Observation observation_;
  LiveCounts counts_;
  std::map<std::string, Seconds> changing_;  // jobs on their way to what they were given, since
  std::set<std::string> unannounced_;        // jobs whose latest epoch the runtime has not taken
  std::vector<std::string> strangers_;       // workers that were told to end
  bool polled_ = false;                      // there was a first look
  bool more_ = false;                        // the runtime knows of jobs that will come
  bool event_ = false;
  Seconds polled_at_ = 0;
  Seconds accounted_ = 0;
  std::int64_t applied_ = -1;
  std::string unreachable_reason_;
  std::function<void()> on_poll_;
};

}  // namespace allot
