#pragma once
// Writes the results of a live run: an episode log as for simulations (--log), and a run folder
// with an evaluation of one policy on one workload for 'allot report' (--out). Each daemon has one
// object, with its own, numbered files. Made by 'allot serve'.

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
    std::string log_root;  // "" writes no episode log
    std::string out;       // "" writes no run folder
    std::string policy;    // spec
    std::string name;      // of data set and folder, without the number
    std::string command;
  };
  // Call before `daemon` runs; both it and the log must outlive the run.
  LiveLog(Options options, const Daemon& daemon);

  void OnDecision(const Observation& observation, const Allocation& allocation) override;

  // Writes the files, and returns one line about each.
  std::vector<std::string> End(const std::string& runtime);

 private:
  void NoteHoldings(const Observation& observation, const Allocation& allocation);
  void WriteOut(const std::filesystem::path& folder, const LiveFacts& facts,
                const std::vector<JobRecord>& records) const;

  Options options_;
  const Daemon& daemon_;
  Seconds begin_;                   // when this daemon started
  std::set<JobIndex> over_before_;  // jobs that ended under earlier daemons
  std::optional<EpisodeLog> log_;
  DecisionListener* episode_ = nullptr;
  std::vector<TimelinePoint> timeline_;
  std::vector<float> decision_us_;
  std::vector<AllocationNote> notes_;                   // decided allocations, by time
  std::map<JobIndex, std::vector<NodeHolding>> noted_;  // present allocations by these notes
  bool told_lengths_ = true;                            // every job always had a length estimate
};

}  // namespace allot
