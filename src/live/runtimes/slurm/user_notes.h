#pragma once
// Explains to users why jobs are not placed, or have GPUs and do not use them: in AdminComment,
// which `scontrol show job` shows. A part of SlurmRuntime; the writing is one of its chores after a
// poll.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "live/runtimes/slurm/slurm_chores.h"
#include "live/runtimes/slurm/slurm_client.h"
#include "live/runtimes/slurm/slurm_tags.h"

namespace allot {

class UserNotes {
 public:
  // Both outlive it.
  UserNotes(SlurmClient& client, SlurmChores& chores) : client_(client), chores_(chores) {}

  // Call it at each poll until it returns true: Slurm then shows why the job is not placed. Writes
  // the reason once, and again if Slurm refused it.
  bool NotPlaced(const SlurmJob& slurm, const std::string& why);

  // Sets the fault of a job (by the daemon's name of it); "" means none, which is written if Slurm
  // shows a fault. True if one of the next two must be called.
  bool Explain(const std::string& job, const SlurmJob& slurm, const std::string& why);
  bool ShowExplanation(const std::string& job, const SlurmJob& slurm);  // as NotPlaced; it waits
  void ShowExplanation(const SlurmJob& slurm, JobTag* tag);  // the same of one that was begun

  // Call it at the end of a poll: forgets jobs that are not listed, and notes that were not
  // repeated since the last call.
  void Drop(const std::function<bool(const std::string& job)>& listed);
  std::size_t size() const { return written_.size() + explained_.size(); }

 private:
  bool Show(const SlurmJob& slurm, const std::string& text);

  SlurmClient& client_;
  SlurmChores& chores_;
  std::map<std::uint32_t, std::string> written_;  // by Slurm's numbers
  std::set<std::uint32_t> said_;                  // those of them that this poll repeated
  std::map<std::string, std::string> explained_;  // jobs; "": they fit again
};

}  // namespace allot
