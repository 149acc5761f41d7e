#pragma once
// The state of a Slurm node, read from the text of sinfo and scontrol, from JSON and from libslurm
// alike. Two questions are asked about it:
//
//  - What does the cluster have? `allot whatif`, `forecast` and every other reader of a list of
//    nodes ask WhyNotOfCluster(): a node that is down, drained, failed or does not respond is left
//    out, because nobody knows when it returns. A node in a reservation or under maintenance is
//    part of the cluster, and so is one that is powered down or reboots: it returns by itself.
//  - What is usable now? `allot serve` and `doctor` ask IsUsableNow(): whatever begins nothing now
//    is not, for maintenance, power or a reboot, too. A node that does not respond stays usable
//    until Slurm says DOWN (SlurmdTimeout), because its jobs still run.
//
// After "NODE STATE CODES" of sinfo and the node's flags in slurm.h.

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace allot {

// Base states first, then flags beside them.
enum class SlurmNodeFlag : std::uint8_t {
  kUndetermined,  // to a controller that was just restarted
  kDown,
  kIdle,
  kAllocated,
  kMixed,
  kError,
  kFuture,         // not configured yet
  kDrain,          // an administrator keeps jobs off it; what runs there goes on
  kFail,           // expected to fail soon
  kMaintenance,    // in a reservation with the flag "maint"
  kReserved,       // in another reservation
  kPlanned,        // for a job that begins later
  kCompleting,     // jobs that ended still hold it
  kNotResponding,  // gets no new work; becomes DOWN unless it responds soon
  kPoweredDown,
  kPoweringDown,
  kPowerDownAsked,
  kPoweringUp,
  kRebootAsked,
  kRebootIssued,
  kInvalidRegistration,  // registered with less than slurm.conf says
  kBlocked,              // by a job that has the topology for itself
  kPerformanceCounters,  // a job measures network performance there
};

inline constexpr int kSlurmNodeFlags = static_cast<int>(SlurmNodeFlag::kPerformanceCounters) + 1;

class SlurmNodeState {
 public:
  SlurmNodeState() = default;
  SlurmNodeState(std::initializer_list<SlurmNodeFlag> flags) {
    for (const SlurmNodeFlag flag : flags) Add(flag);
  }

  // Adds what the text says: "idle", "mix-", "down*", "drng", "IDLE+CLOUD+POWERED_DOWN". Words that
  // are not known, of later releases, add nothing.
  void AddText(std::string_view text);
  void Add(SlurmNodeFlag flag) { bits_ |= Bit(flag); }
  bool Has(SlurmNodeFlag flag) const { return (bits_ & Bit(flag)) != 0; }

  enum class Absence : std::uint8_t { kNone, kAway, kNotResponding };
  // kNone: the cluster has it.
  Absence WhyNotOfCluster() const;
  bool IsUsableNow() const;
  // Not usable because an administrator wants so, though it could run jobs: drained, or under
  // maintenance.
  bool IsDrained() const;
  // The controller was just restarted: what was known before still holds.
  bool IsUnknown() const;

  friend bool operator==(const SlurmNodeState&, const SlurmNodeState&) = default;

 private:
  static std::uint32_t Bit(SlurmNodeFlag flag) { return 1U << static_cast<unsigned>(flag); }
  bool HasAny(std::uint32_t flags) const { return (bits_ & flags) != 0; }
  bool BeginsJobs() const;
  bool Runs() const;

  std::uint32_t bits_ = 0;
};

}  // namespace allot
