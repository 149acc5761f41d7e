#pragma once
// The results of a live run as files: the episode log that simulations write (--log) and their run
// directory with an evaluation of one policy on one workload, for 'allot report' (--out). One
// object a daemon: each begins files of its own, numbered. Made by 'allot serve'.

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/allocation_note.h"
#include "episode_log/episode_log.h"
#include "live/daemon/daemon.h"
#include "sched/driver.h"

namespace allot {

class LiveLog : public DecisionListener {
 public:
  struct Options {
    std::string log_root;  // "": no episode log
    std::string out;       // "": no run directory
    std::string policy;    // spec
    std::string name;      // of data set and folder, before its number
    std::string command;
  };
  // `daemon` has not run yet; both it and the log live through the run.
  LiveLog(Options options, const Daemon& daemon);

  void OnDecision(const Observation& observation, const Allocation& allocation) override;

  // Writes what is to be written; what that was, one line each.
  std::vector<std::string> End(const std::string& runtime);

 private:
  void NoteHoldings(const Observation& observation, const Allocation& allocation);
  void WriteOut(const std::filesystem::path& folder, const LiveFacts& facts,
                const std::vector<JobRecord>& records) const;

  Options options_;
  const Daemon& daemon_;
  Seconds begin_;                   // of this daemon
  std::set<JobIndex> over_before_;  // jobs of earlier ones
  std::optional<EpisodeLog> log_;
  DecisionListener* episode_ = nullptr;
  std::vector<TimelinePoint> timeline_;
  std::vector<float> decision_us_;
  std::vector<AllocationNote> notes_;                   // as decided, by time; jobs of the daemon
  std::map<JobIndex, std::vector<NodeHolding>> noted_;  // what jobs hold by these
  bool told_lengths_ = true;                            // of all jobs, always
};

}  // namespace allot
