#pragma once
// The stages of a job and the states of a node as users see them, with their names. The rooms that
// compute them (live/workers, live/state) and the status that reports them share these enums.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace allot {

// How far a job is on its way to what the last decision gave it.
enum class JobStage : std::uint8_t {
  kWaiting,     // it has no GPUs
  kStarting,    // workers are asked for
  kJoining,     // workers have their GPUs and do not train yet
  kForming,     // the next epoch is announced, and not all members have reached it
  kTraining,    // it trains as decided
  kShrinking,   // it trains, and workers are to leave
  kStopping,    // its workers are to leave, and it waits again
  kRestarting,  // its workers are stopped so that others can start
  kEnding,      // it is over, and has workers
  kOver,
  kHeld,         // its user or the cluster keeps it from starting
  kFitsNowhere,  // no GPU type that it accepts can hold it
};
inline constexpr std::array<std::string_view, 12> kJobStageNames = {
    "waiting",  "starting",   "joining", "forming", "training", "shrinking",
    "stopping", "restarting", "ending",  "over",    "held",     "fits nowhere"};
constexpr std::string_view NameOf(JobStage stage) {
  return kJobStageNames[static_cast<std::size_t>(stage)];
}

// Why decisions may or may not place jobs on a node. Of several reasons the first one in the order
// drained, maintenance, down, avoided is reported.
enum class NodeState : std::uint8_t {
  kUp,
  kDrained,      // through `allot drain` or by the cluster's administrator
  kMaintenance,  // in a window of the operator's rules
  kDown,
  kAvoided,  // it fails jobs, or has lost GPUs: what runs there goes on, and nothing starts
};
inline constexpr std::array<std::string_view, 5> kNodeStateNames = {"up", "drained", "maintenance",
                                                                    "down", "avoided"};
constexpr std::string_view NameOf(NodeState state) {
  return kNodeStateNames[static_cast<std::size_t>(state)];
}

}  // namespace allot
