#pragma once
// When the workers of a job may be started again, and when the job is given up: after a failure,
// and after a start that was refused, comes a pause that doubles each time. Progress forgives
// failures, an accepted start refusals. A value without a clock; the journal holds all of it
// (live/state/kept_records.h).

#include <cstdint>
#include <string>

#include "core/types.h"

namespace allot {

struct BackoffOptions {
  int most_failures = 6;  // in a row without progress, before the job is given up
  Seconds first = 0.5;    // pause after a failure or a refusal, doubled each time
  Seconds longest = 30;
};

struct StartBackoff {
  int failures = 0;                  // in a row without progress
  int late_tries = 0;                // in a row that a worker did not join; not forgiven
  std::int64_t step_at_failure = 0;  // of the job
  int refusals = 0;                  // in a row
  std::string refusal;               // why, for people; "": the last start was accepted
  Seconds refused_since = 0;         // while there is a refusal
  Seconds not_before = 0;            // nothing starts

  // The job has come to this step.
  void Progressed(std::int64_t step);
  // It was at this step when a worker failed. Workers that fail before `not_before` are lost
  // together, with their node say, and are one failure.
  void Failed(std::int64_t step, Seconds now, const BackoffOptions& options);
  // A failure, too: a worker did not join. The others may well go on, which forgives the failure,
  // and not that the worker is missing.
  void WasLate(std::int64_t step, Seconds now, const BackoffOptions& options);
  void AllJoined() { late_tries = 0; }
  void Refused(std::string why, Seconds now, const BackoffOptions& options);
  void Accepted();

 private:
  void CountFailure(Seconds now, const BackoffOptions& options);
  void Pause(int times, Seconds now, const BackoffOptions& options);
};

}  // namespace allot
