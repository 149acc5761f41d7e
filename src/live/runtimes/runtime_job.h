#pragma once
// A job as a runtime shows it (live/runtimes/runtime_snapshot.h): what its user asked for, and
// whether it is over.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"

namespace allot {

// How a job changes its size.
enum class ResizeMode : std::uint8_t {
  kHot,      // workers join and leave the running group by epochs; a worker has one GPU
  kRestart,  // all workers stop with a checkpoint and others start; each has all GPUs of its node
  kCount,    // a counted job: a number of workers with one GPU each and without epochs; the runtime
             // chooses where they are and which one leaves
};

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

// A number of GPUs that a job may have at most, and who limits it, for people.
struct GpuLimit {
  GpuCount gpus = 0;
  std::string by{};

  friend bool operator==(const GpuLimit&, const GpuLimit&) = default;
};

// The memory that a start needs on each of its nodes.
struct MemoryNeed {
  std::uint64_t mib = 0;
  bool whole_node = false;  // all that the node has

  friend bool operator==(const MemoryNeed&, const MemoryNeed&) = default;
};

// The fields that JobOptions (live/runtimes/job_options.h) lists are the user's words about the
// job; the others are what the cluster knows of it.
struct RuntimeJob {
  std::string id;  // unique for as long as a daemon's state folder lives, [A-Za-z0-9_.-]+
  std::string user;
  std::optional<std::string> account{};  // that pays for the job, as rules name it; unset: its user
  bool free_account = false;             // its user may name any: it counts for no fair share
  std::string name;                      // for people
  std::optional<std::string> known_as{};  // to users ("team/mlp"); later jobs may have it, too
  std::string comment;                    // as the user wrote it, for people
  double submit = 0;                      // Unix time
  double deadline = kNever;               // Unix time
  Seconds time_limit = kNever;
  double priority = 0;  // larger is more important

  // Sizes.
  GpuCount requested = 1;
  GpuCount min_gpus = 1;  // 1 <= min <= requested <= max
  GpuCount max_gpus = 1;
  std::optional<std::string> sizes{};  // SizeRule over min to max; unset: any of them
  std::string gpu_types;               // that it accepts, joined by '|'; empty: any
  bool even = false;                   // kRestart: it needs as many GPUs on each of its nodes

  // Limits of the cluster.
  std::vector<std::string> only_on{};      // nodes that may run it; empty: any
  std::string limits{};                    // the reason for only_on, for people ("--constraint=x")
  MemoryNeed memory{};                     // of one worker
  std::vector<std::int32_t> limited_by{};  // indices of RuntimeSnapshot::limits
  std::optional<GpuLimit> at_most{};       // for this job alone

  // Changes.
  ResizeMode mode = ResizeMode::kHot;
  bool preempt = true;    // kRestart: it may be stopped once it runs; otherwise it is left alone
  bool settling = false;  // kRestart: it was stopped a moment ago and may not start yet
  Seconds cooldown = 0;   // it keeps what it was given for at least so long
  Seconds grace = 0;      // from the notice to stop until its end by force; 0: the daemon's default

  // Work.
  std::string model;             // profile of the catalogue; unknown ones have the documented prior
  double total_work = kUnknown;  // in the unit of its progress
  double comm_share = 0;         // part of an iteration in which it communicates, 0 to below 1

  JobState state = JobState::kActive;
  std::string reason;  // why it failed, was cancelled or is held, for people

  const std::string& shown() const { return known_as ? *known_as : id; }
  const std::string& payer() const { return account ? *account : user; }
  bool over() const { return state != JobState::kActive && state != JobState::kHeld; }
};

// The types that a job accepts, as its user writes them: "a100|v100". DataError unless they are
// names joined by '|', each once; `where` begins its message.
std::string GpuTypesFrom(std::string_view text, std::string_view where);

}  // namespace allot
