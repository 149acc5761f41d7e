#pragma once
// The environment contract: Gym's reset / step with results in caller-owned contiguous memory.
//
// Reset(seed) starts an episode; Step(action) returns reward, terminated (every job is done),
// truncated (decision limit), info. Equal seeds give equal episodes; a reset without a seed
// starts the next episode of the stream that the last seed began: that of NextEpisodeSeed. Not
// thread-safe; one object per thread.

#include <cstdint>
#include <optional>
#include <span>

#include "envs/observation_buffer.h"
#include "envs/spaces.h"

namespace allot {

struct StepInfo {
  double time_s = 0;
  double dt_s = 0;  // simulated time that the step took: 0 where it completed no decision
  std::int64_t decision = 0;
  std::int32_t active_jobs = 0;
  std::int32_t finished_jobs = 0;       // in this step
  bool decided = false;                 // the step completed a decision (always in index mode)
  bool illegal_action = false;          // it was ignored
  std::int32_t unplaced_jobs = 0;       // choices that did not fit any more (choice mode)
  std::int32_t jobs_beyond_window = 0;  // active jobs that the observation does not show
  // Of an episode that ended with this step, else 0. A job that is not done counts as if it were
  // done now: of truncated episodes these are lower bounds.
  double avg_jct_s = 0;              // over the jobs that have come
  double makespan_s = 0;             // from time 0 to the last completion
  std::int32_t unfinished_jobs = 0;  // of those that have come
};

struct StepResult {
  double reward = 0;
  bool terminated = false;
  bool truncated = false;
  StepInfo info;
};

// The seed of the episode after one of this seed; of 48 bits, so that doubles and int64 hold it.
// Different seeds practically never lead to a common one.
std::uint64_t NextEpisodeSeed(std::uint64_t seed);

class Env {
 public:
  virtual ~Env() = default;
  virtual const EnvSpec& spec() const = 0;
  virtual StepInfo Reset(std::optional<std::uint64_t> seed) = 0;
  // spec().action.elements() numbers; a discrete action is one float that holds its
  // number, a choice one for each slot.
  virtual StepResult Step(std::span<const float> action) = 0;
  // Into memory for one observation of spec(): ObservationBuffer(spec()).Row(0).
  virtual void Observe(const ObservationView& view) const = 0;
};

}  // namespace allot
