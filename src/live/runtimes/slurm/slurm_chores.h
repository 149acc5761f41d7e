#pragma once
// Calls to Slurm that follow from a poll and not from decisions: leaving jobs without GPUs to
// Slurm, splitting arrays, notes to users. The poll only adds chores; they are done afterwards
// within a limited time, because thousands of jobs may need one at once, and each costs a call to
// the controller, which may be busy or refuse. The next poll adds those again that were not done.
// For SlurmRuntime, from one thread.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/monotonic.h"
#include "core/types.h"

namespace allot {

// The most urgent first.
enum class SlurmChore : std::uint8_t {
  kGiveBack,      // a requeued job, to where jobs wait
  kEnd,           // a worker job that outlived its job
  kLengthen,      // a time limit
  kSplit,         // an array
  kLeaveToSlurm,  // a job without GPUs
  kTell,          // its user why a job waits
};

class SlurmChores {
 public:
  // For all chores of a poll; the last call may exceed it by the client's time-out.
  static constexpr Seconds kMostTime = 0.5;
  static constexpr Seconds kFirstRest = 1;  // after a refusal, doubled each time
  static constexpr Seconds kLongestRest = 60;

  // `clock` does not go back.
  explicit SlurmChores(std::function<Seconds()> clock = MonotonicSeconds)
      : clock_(std::move(clock)) {}

  // Of the job with Slurm's number `job`, to be done in this look; `act` is called at most once.
  void Add(SlurmChore chore, std::uint32_t job, std::function<Status()> act);
  // The end of the look's reading: does what there is time for. A refusal is logged once, and not
  // asked again before its rest is over.
  void Do();
  void Drop() { asked_.clear(); }  // nothing is to be done

  std::size_t refused() const { return refused_.size(); }  // that this look asked for

 private:
  using Key = std::pair<SlurmChore, std::uint32_t>;
  struct Asked {
    Key key;
    std::function<Status()> act;
  };
  struct Refusal {
    Seconds rest = kFirstRest;
    Seconds until = 0;
  };

  void Try(const Asked& asked);

  std::function<Seconds()> clock_;
  std::vector<Asked> asked_;
  std::map<Key, Refusal> refused_;
};

}  // namespace allot
