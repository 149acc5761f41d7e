#pragma once
// From the runtime into the state: what a snapshot shows of nodes, jobs and workers becomes
// records, and what jobs report of their training becomes measured rates. LiveCluster is the only
// caller, at every poll.

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "live/runtimes/runtime.h"
#include "live/state/live_counts.h"
#include "live/state/state_writer.h"

namespace allot {

// Takes from a job what JobTable::SharesOn does not leave it: `kept`, as that returned it.
void GiveOnly(StateWriter& writer, const LiveJob& job, std::span<const NodeShare> kept,
              const std::string& why);

class RuntimeReader {
 public:
  // `dry_run`: jobs and nodes are read, workers are left alone.
  RuntimeReader(Runtime& runtime, StateWriter& writer, LiveCounts& counts, bool dry_run);

  // When the journal ends that this daemon began with; 0: there was none.
  void SetJournalEnd(Seconds at) { journal_end_ = at; }

  // True when something happened that asks for a decision: a job or a node came or went.
  bool Read(const RuntimeSnapshot& snapshot);

  // Counted jobs hold what their workers really have, not what they were given. True when one that
  // comes to its end has freed GPUs.
  bool FollowPlaces();

  // Takes from jobs what they hold on nodes that are down or drained, and what their workers do not
  // use on nodes where none may start: true when one held anything.
  // And, without a decision of its own, what workers of jobs by count have that others were given.
  bool ReleaseLostGpus();

  // What jobs did since `before`, the time of the last poll: their service, progress and rates.
  void Measure(Seconds before, Seconds now);

 private:
  bool ReadNodes(const RuntimeSnapshot& snapshot);
  RuntimeNode NodeFrom(const RuntimeNode& shown, const RuntimeNode& known) const;
  bool ReadJobs(const RuntimeSnapshot& snapshot);
  bool ReadJob(const std::shared_ptr<const RuntimeJob>& record, bool* event);
  bool EndUnlisted(const RuntimeSnapshot& snapshot);
  const LiveJob* AddJob(const RuntimeJob& seen);
  bool ReadWorkers(const RuntimeSnapshot& snapshot);
  bool ReadUnknownWorker(const RuntimeWorker& seen);  // it is the job's now
  bool GiveWhatItHolds(const LiveJob& job, Seconds since);
  void CountServiceOf(const LiveJob& job, std::span<const RuntimeWorker* const> workers);
  Seconds BeganOf(const RuntimeWorker& worker) const;  // time of the run
  Seconds FirstOf(std::span<const RuntimeWorker* const> workers) const;
  bool KeepAsItRuns(const LiveJob& job);
  bool KeepOnlyWorkers(const LiveJob& job, const FailedNodes& failed, HeldGpus* usable) const;
  void FollowPlacesOf(const LiveJob& job);
  void EndWorker(const LiveJob& job, const std::string& worker, bool failed,
                 const std::string& reason);
  void EndJob(const LiveJob& job, JobState state, const std::string& reason);

  Runtime& runtime_;
  StateWriter& writer_;
  LiveState& state_;
  LiveCounts& counts_;
  const bool dry_run_;
  using JobList = std::vector<std::shared_ptr<const RuntimeJob>>;
  JobList settled_;  // records that say of jobs what is known, until another one does; by address
  Seconds journal_end_ = 0;
  bool began_ = false;                     // has read workers before
  std::set<std::string> unknown_workers_;  // that were told to end
  Seconds accounted_;                      // when the service of jobs was noted last
};

}  // namespace allot
