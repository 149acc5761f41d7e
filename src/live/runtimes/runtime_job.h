#pragma once
// A job as a runtime shows it (live/runtimes/runtime.h): what its user asked for, and whether it is
// over.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"

namespace allot {

// How a job takes a change of its size.
enum class ResizeMode : std::uint8_t {
  kHot,      // workers join and leave the running group by epochs; a worker has one GPU
  kRestart,  // all workers stop, with a checkpoint, and others start; one has all GPUs of its node
  kCount,    // so many workers of one GPU, without epochs; where they are, and which one leaves,
             // is for the runtime to say
};

inline constexpr GpuCount kNoLimit = -1;

enum class JobState : std::uint8_t {
  kActive,  // may have workers
  kHeld,    // by its user or the runtime: not shown to the policy, its workers are stopped
  kFinished,
  kFailed,
  kCancelled,
};
inline constexpr JobState kJobStates[] = {JobState::kActive, JobState::kHeld, JobState::kFinished,
                                          JobState::kFailed, JobState::kCancelled};
std::string_view NameOf(JobState state);  // "finished"

struct RuntimeJob {
  std::string id;  // unique for as long as a daemon's state folder lives, [A-Za-z0-9_.-]+
  std::string user;
  std::string name;        // for people
  std::string known_as{};  // to its users ("team/mlp"), as later jobs may be; "": by its id
  double submit = 0;       // Unix time
  GpuCount requested = 1;
  GpuCount min_gpus = 1;  // 1 <= min <= requested <= max
  GpuCount max_gpus = 1;
  std::vector<std::string> only_on{};      // nodes that may run it; none: any
  std::string limits{};                    // `only_on`: why, for people ("--constraint=nvlink")
  std::vector<std::int32_t> limited_by{};  // indices of RuntimeSnapshot::limits
  GpuCount at_most = kNoLimit;             // GPUs that one job of its kind may have now
  std::string at_most_by{};                // `at_most`: who says so, for people
  bool even = false;                       // kRestart: as many GPUs on each of its nodes
  std::string account{};                   // who pays for it, as rules name it; "": its user
  std::string sizes{};    // numbers of GPUs that it may be given, as SizeRule; "": any of min..max
  Seconds cooldown = 0;   // it wants to keep what it was given for so long, at least
  Seconds grace = 0;      // it wants to have from a notice to stop until its end; 0: not said
  std::string gpu_types;  // that it accepts, joined by '|'; "": any
  ResizeMode mode = ResizeMode::kHot;
  std::string model;             // profile of the catalogue; "" or unknown: the documented prior
  double total_work = kUnknown;  // as the user says, in the unit that progress is reported in
  Seconds time_limit = kNever;
  double priority = 0;       // larger is more important
  double deadline = kNever;  // Unix time
  bool settling = false;     // kRestart: it was stopped a moment ago and may not begin yet
  bool preempt = true;       // kRestart: may be stopped once it runs; false: nothing is done to it
  std::string comment;       // as the user wrote it; parsed already, for people
  JobState state = JobState::kActive;
  std::string reason;  // why it failed or was cancelled or is held, for people
  const std::string& shown() const { return known_as.empty() ? id : known_as; }
  bool over() const { return state != JobState::kActive && state != JobState::kHeld; }
};

// The types that a job accepts, as its user writes them: "a100|v100". DataError unless they are
// names joined by '|', each once; `where` begins its message.
std::string GpuTypesFrom(std::string_view text, std::string_view where);

}  // namespace allot
