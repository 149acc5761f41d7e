#pragma once
// One run of one of Slurm's programs, for the back end over them. No shell: words and environment
// reach the program as they are. It runs with umask 022, no limits changed, and none of our files
// open. Its CPU time counts as that of the calling thread (core/cpu_elsewhere.h).

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/types.h"

namespace allot {

// Until when a call, of several programs perhaps, may last.
class SlurmDeadline {
 public:
  explicit SlurmDeadline(Seconds patience)
      : patience_(patience),
        at_(Clock::now() +
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(patience))) {}
  using Clock = std::chrono::steady_clock;
  Seconds patience() const { return patience_; }
  Clock::time_point at() const { return at_; }

 private:
  Seconds patience_;
  Clock::time_point at_;
};

struct SlurmProgram {
  std::vector<std::string> words;        // the first: its path
  std::vector<std::string> environment;  // all of it, "NAME=value"
  std::string input{};                   // a script of ours: less than a pipe holds
};

struct SlurmProgramOutput {
  std::string text;    // stdout
  std::string errors;  // stderr
  int exit = 0;        // 128 and the signal, where one ended it
};

// What it said last on stderr: "Invalid job id specified".
std::string LastLineOf(const SlurmProgramOutput& output);

// In this folder, or on PATH where it is "".
std::optional<std::string> FindSlurmProgram(const std::filesystem::path& folder,
                                            const std::string& name);

// The programs' own environment: no SQUEUE_* or SBATCH_* of whoever started the daemon.
std::vector<std::string> SlurmEnvironment();

// Ok whatever its exit status is. Refused where the program cannot be run, says more than a GiB, or
// does not end before the deadline: it is killed.
Status RunSlurmProgram(const SlurmProgram& program, const SlurmDeadline& deadline,
                       SlurmProgramOutput* output);

}  // namespace allot
