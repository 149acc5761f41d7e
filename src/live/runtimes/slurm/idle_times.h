#pragma once
// --time of a job that is resized while it trains: Slurm counts from the beginning of its script,
// which also waits, and is preempted, without GPUs. For that time its limit is raised, a minute
// (Slurm's unit) ahead, once it is more than some seconds. The time of a daemon's own absence is
// not given. Pure, for the Slurm runtime.

#include <cstdint>
#include <map>
#include <string>

#include "core/types.h"

namespace allot {

class IdleTimes {
 public:
  // `idle`: the jobs with a limit whose scripts run, and whether they have no GPU now. Minutes that
  // limits are to be raised by, until they were. Of jobs that are not named nothing is kept.
  std::map<std::string, std::uint32_t> Due(const std::map<std::string, bool>& idle, Seconds now);
  void Raised(const std::string& job, std::uint32_t minutes);

 private:
  struct Time {
    Seconds idle = 0;
    std::uint32_t given = 0;  // minutes
  };
  std::map<std::string, Time> times_;
  Seconds seen_ = 0;
};

}  // namespace allot
