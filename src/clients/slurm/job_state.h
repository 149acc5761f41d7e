#pragma once
// States of a Slurm job, read from the text of squeue and sacct, from JSON and from libslurm alike.
// Trace readers ask how a job ended, the Slurm runtime what it does now; both get their answers
// from one table (job_state.cc, after "JOB STATE CODES" of squeue and sacct).

#include <cstdint>
#include <optional>
#include <string_view>

namespace allot {

// Base states first, then flags beside them. Programs of 22.05 print a flag instead of the state.
enum class SlurmJobState : std::uint8_t {
  kPending,
  kRunning,
  kSuspended,
  kCompleted,
  kCancelled,
  kFailed,
  kTimeout,
  kNodeFail,
  kPreempted,
  kBootFail,
  kDeadline,
  kOutOfMemory,
  kReservationDeleted,  // held, because its reservation was deleted
  kRequeued,
  kRequeuedByFederation,
  kRequeuedOnHold,
  kSpecialExit,  // requeued on hold, after a special exit
  kRevoked,      // another cluster of the federation has started it
  kLaunchFailed,
  kReconfigureFailed,
  kConfiguring,
  kCompleting,
  kResizing,
  kSignaling,
  kStageOut,
  kStopped,
  kPoweringUpNodes,
};

inline constexpr int kSlurmJobStates = static_cast<int>(SlurmJobState::kPoweringUpNodes) + 1;

// What a job in the state does.
enum class SlurmJobPhase : std::uint8_t {
  kWaiting,
  kRunning,    // has nodes, though its program may be suspended, or not have begun
  kEnded,      // for good
  kLostNodes,  // has ended, unless Slurm queues it again: a failed node, a preemption
  kRequeued,   // waits again, perhaps on hold, and may still hold its nodes
};

// How a job ended. A preemption is no failure of the program or of the node: Slurm wanted the
// nodes for another job.
enum class SlurmJobEnd : std::uint8_t { kCompleted, kCancelled, kFailed };

struct SlurmJobStateFacts {
  std::string_view name;  // "COMPLETED"
  std::string_view code;  // "CD", as squeue shortens it
  SlurmJobPhase phase;
  std::optional<SlurmJobEnd> end;  // of kEnded, kLostNodes and kSpecialExit
};

const SlurmJobStateFacts& FactsOf(SlurmJobState state);

// "COMPLETED", "CD", "CANCELLED by 1000", "CANCELLED+" (cut to a width); nullopt for what Slurm
// does not call a state.
std::optional<SlurmJobState> ParseSlurmJobState(std::string_view text);

// The states that hold for a job at a time: a base state, and flags.
class SlurmJobStates {
 public:
  void Add(SlurmJobState state) { bits_ |= Bit(state); }
  bool Has(SlurmJobState state) const { return (bits_ & Bit(state)) != 0; }
  // The base state, else the flag that says most; nullopt: no state is known.
  std::optional<SlurmJobState> Main() const;
  // Slurm queues the job again: it has not ended, whatever its base state is.
  bool IsRequeued() const;

 private:
  static std::uint32_t Bit(SlurmJobState state) { return 1U << static_cast<unsigned>(state); }
  std::uint32_t bits_ = 0;
};

}  // namespace allot
