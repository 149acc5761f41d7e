#pragma once
// Decides when the workers of a job may be started again, and when the job is given up. Failures
// and refused starts are followed by a back-off that doubles each time. Progress resets failures,
// an accepted start refusals. Failures that a node is to blame for (rules/node_suspicion.h) do not
// count against the job. A value without a clock, stored in the journal.

#include <cstdint>
#include <string>

#include "core/types.h"

namespace allot {

struct BackoffOptions {
  int most_failures = 6;  // in a row without progress; then the job is given up
  Seconds first = 0.5;    // first back-off, doubled each time
  Seconds longest = 30;
};

// How the end of a worker counts.
enum class WorkerFailure : std::uint8_t {
  kNone,
  kNew,
  kTogether,  // it belongs to the failure before: with that worker it was lost
};

struct StartBackoff {
  int failures = 0;                  // in a row without progress
  int late_tries = 0;                // starts in a row after which a worker did not join
  std::int64_t step_at_failure = 0;  // the job's step
  int refusals = 0;                  // in a row
  std::string refusal;               // reason; "" after an accepted start
  Seconds refused_since = 0;         // defined while there is a refusal
  Seconds not_before = 0;            // no worker starts earlier

  // The job has reached this step.
  void Progressed(std::int64_t step);
  // A worker failed when the job was at this step. Workers that fail before `not_before` were
  // probably lost together, with their node say, and count as one failure.
  WorkerFailure Failed(std::int64_t step, Seconds now, const BackoffOptions& options);
  // A worker did not join, which is a failure too. If the other workers progress, the failure is
  // reset, but not late_tries.
  WorkerFailure WasLate(std::int64_t step, Seconds now, const BackoffOptions& options);
  // A node is to blame for so many of the failures.
  void Excuse(int its_failures);
  void AllJoined() { late_tries = 0; }
  void Refused(std::string why, Seconds now, const BackoffOptions& options);
  void Accepted();

 private:
  WorkerFailure CountFailure(Seconds now, const BackoffOptions& options);
  void BackOff(int times, Seconds now, const BackoffOptions& options);
};

}  // namespace allot
