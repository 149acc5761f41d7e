#pragma once
// What users are told of jobs that are not placed, or that have GPUs and do nothing with them, in
// AdminComment, where `scontrol show job` shows it. A part of SlurmRuntime: what is to be written
// is a chore of its looks.

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

  // To be said again at each look until it is true: Slurm shows that the job is not placed, and
  // why. Written once; again where Slurm did not take it.
  bool NotPlaced(const SlurmJob& slurm, const std::string& why);

  // What is wrong with a job (the daemon's name of it); "": nothing, which is told where Slurm
  // shows anything else. True where something is to be told, by one of the next two.
  bool Explain(const std::string& job, const SlurmJob& slurm, const std::string& why);
  bool ShowExplanation(const std::string& job, const SlurmJob& slurm);  // as NotPlaced; it waits
  void ShowExplanation(const SlurmJob& slurm, JobTag* tag);  // the same of one that was begun

  // At the end of a look: of other jobs than those listed, and of what was not said since the last
  // call, nothing is kept.
  void Drop(const std::function<bool(const std::string& job)>& listed);
  std::size_t size() const { return told_.size() + explained_.size(); }

 private:
  bool Show(const SlurmJob& slurm, const std::string& text);

  SlurmClient& client_;
  SlurmChores& chores_;
  std::map<std::uint32_t, std::string> told_;     // by Slurm's numbers
  std::set<std::uint32_t> said_;                  // of these, in this look
  std::map<std::string, std::string> explained_;  // jobs; "": they fit again
};

}  // namespace allot
