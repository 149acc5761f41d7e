#pragma once
// What became of a job: kept by every cluster, simulated or real, and turned into jobs.csv.

#include <cstdint>
#include <utility>

#include "core/types.h"

namespace allot {

struct JobRecord {
  JobIndex job = 0;
  Seconds submit = 0;
  Seconds first_start = kNever;
  Seconds finish = kNever;       // kNever: unfinished
  double gpu_seconds = 0;        // allocated GPUs x seconds, restarts included
  std::int32_t preemptions = 0;  // ran -> waits
  std::int32_t restarts = 0;  // changes of allocation after the first launch, each at restart cost
  std::int32_t moves = 0;     // of these: from running to running in the same configuration

  std::int32_t failures = 0;   // of the preemptions: a node of it went down
  std::int32_t evictions = 0;  // of the preemptions: a node of it was called back
  std::int32_t shrinks = 0;    // of the restarts: a node went down and it kept the rest

  std::int32_t launches() const { return first_start == kNever ? 0 : 1 + restarts; }
};

// GPU time that jobs held without getting on, by cause.
struct LostGpuSeconds {
  double redone = 0;       // work since the last checkpoint, when a node failed
  double restarts = 0;     // after changes of allocation and launches
  double checkpoints = 0;  // writing them

  friend bool operator==(const LostGpuSeconds&, const LostGpuSeconds&) = default;
};

// Starts of jobs where nodes stay up and fail them.
struct StartFigures {
  std::int64_t failed = 0;         // starts
  std::int64_t on_bad_nodes = 0;   // of these
  std::int64_t given_up = 0;       // jobs, after failures in a row
  std::int64_t good_given_up = 0;  // of these: they do not fail by themselves
  std::int64_t bad_nodes = 0;      // times in which a node was bad and a start failed there
  std::int64_t found = 0;          // of these: the node became suspect
  std::int64_t until_found = 0;    // failed starts there before it did
  std::int64_t false_alarms = 0;   // times that a sound node became suspect

  friend bool operator==(const StartFigures&, const StartFigures&) = default;
};
// All of them, by the names that results have.
inline constexpr std::pair<const char*, std::int64_t StartFigures::*> kStartFigures[] = {
    {"failed", &StartFigures::failed},           {"on_bad_nodes", &StartFigures::on_bad_nodes},
    {"given_up", &StartFigures::given_up},       {"good_given_up", &StartFigures::good_given_up},
    {"bad_nodes", &StartFigures::bad_nodes},     {"found", &StartFigures::found},
    {"until_found", &StartFigures::until_found}, {"false_alarms", &StartFigures::false_alarms}};

// Of services that lend GPUs, while jobs are submitted: GPUs on average, and the share of their
// demand that they had lent.
struct LendingFigures {
  double demand = 0;
  double lent = 0;
  double shortage = 0;

  friend bool operator==(const LendingFigures&, const LendingFigures&) = default;
};

// The jobs that a measurement is of, by position, both included: a steady-state window. Those
// before and behind them arrive, run and compete, but are not counted.
struct TrackedJobs {
  JobIndex first = 0;
  JobIndex last = 0;
};

// State of the cluster from this time to the next point's, for queue-length and utilisation curves.
struct TimelinePoint {
  Seconds time = 0;
  std::int32_t active = 0;  // unfinished jobs
  std::int32_t running = 0;
  std::int32_t gpus_used = 0;
  std::int32_t nodes = 0;  // with capacity; of live clusters 0: not noted
};

}  // namespace allot
