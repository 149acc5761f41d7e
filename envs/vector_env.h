#pragma once
// N environments stepped as one, over threads, into contiguous buffers: what trainers and the
// Python vector env call.
//
// What follows the end of an episode is one of Gymnasium's modes of autoreset:
// - same step: that step resets the environment. reward, terminated and truncated are those of the
//   last step, final_observation() and final_infos() keep what that step showed, observation() and
//   infos() already belong to the new episode.
// - next step: the next step resets it, whatever the action; its reward is 0.
// - disabled: the caller resets it (Reset with a mask); a step before that is a UsageError.
//
// Results do not depend on the thread count. Not thread-safe itself: one caller at a time.

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "envs/env.h"
#include "envs/step_queue.h"
#include "envs/thread_team.h"

namespace allot {

enum class Autoreset { kSameStep, kNextStep, kDisabled };

struct VectorEnvSpec {
  EnvSpec single;  // of each environment
  std::int64_t num_envs = 0;
  std::string_view autoreset_mode;  // the value of Gymnasium's metadata["autoreset_mode"]
};

class VectorEnv {
 public:
  using Factory = std::function<std::unique_ptr<Env>(std::int64_t index)>;

  // Calls the factory for 0, 1, ... count - 1; all must have the same spec. threads <= 0: all
  // cores; fewer are used where there are not two environments for each. UsageError when count < 1.
  VectorEnv(std::int64_t count, const Factory& factory, int threads = 1,
            Autoreset autoreset = Autoreset::kSameStep);

  const VectorEnvSpec& spec() const { return spec_; }
  int threads() const { return team_.parts(); }

  // Begins an episode everywhere, environment i with seeds[i], or seed + i. Its later episodes have
  // the NextEpisodeSeed of the one before. Without a seed each starts the next of these (the first
  // time, as if the seed were 0).
  void Reset(std::optional<std::uint64_t> seed);
  void Reset(std::span<const std::uint64_t> seeds);
  // Only where the mask is 1; seeds[i] only where there is one. Both have a value an environment.
  // UsageError before the first Reset of all.
  void Reset(std::span<const std::optional<std::uint64_t>> seeds,
             std::span<const std::uint8_t> mask);

  // N x EnvSpec::action.elements() floats. UsageError for another size or before the first Reset.
  // Allocates nothing beyond what the environments do.
  void Step(std::span<const float> actions);

  // If environments throw in Reset or Step, all others still finish theirs; then the error of the
  // lowest index is rethrown, and Step refuses until the next Reset.

  // The same without waiting for all, as in EnvPool: Send hands actions to these environments, by
  // their numbers; Receive waits until `count` of those in flight are done and returns their
  // numbers, in the order in which they were. Rows of environments in flight must not be read; Step
  // and Reset are refused meanwhile. UsageError for an environment that is in flight already or a
  // count that can never come. Which are done first depends on the threads; what each one shows
  // does not.
  void Send(std::span<const float> actions, std::span<const std::int64_t> environments);
  std::vector<std::int64_t> Receive(std::int64_t count);
  // Waits for all that are in flight and forgets them, and what they threw.
  void Settle();

  // Environment i at row i, in the memory of the last ShowIn. The addresses hold as long as the
  // VectorEnv.
  const ObservationBuffer& observation() const { return *shown_[current_].buffer; }
  // Further memory for observations, so that a caller can keep some without a copy, and write to
  // them. Its number: 1, 2, ...; 0 is there from the start. Not while environments are in flight.
  std::size_t AddObservation();
  // From now on observations are written there. Rows are those of the current observations after
  // the next Reset, Step or Send.
  void ShowIn(std::size_t which);
  ObservationBuffer& observation(std::size_t which) { return *shown_[which].buffer; }
  std::span<const double> rewards() const { return rewards_; }
  std::span<const std::uint8_t> terminated() const { return terminated_; }
  std::span<const std::uint8_t> truncated() const { return truncated_; }
  std::span<const StepInfo> infos() const { return infos_; }

  // Rows are valid where final_mask is 1: episodes that ended in the last step.
  std::span<const std::uint8_t> final_mask() const { return final_mask_; }
  const ObservationBuffer& final_observation() const { return final_observation_; }
  std::span<const StepInfo> final_infos() const { return final_infos_; }

  const Env& env(std::int64_t index) const { return *envs_[static_cast<std::size_t>(index)]; }
  // The same for a caller who may be wrong: UsageError for no such environment, before the first
  // reset, and while environments are in flight.
  const Env& At(std::int64_t index) const;

 private:
  template <typename Body>
  void ForEach(const Body& body);  // body(env index) on the team; rethrows
  void ResetAll();                 // with next_seed_
  void RefuseInFlight(const char* what) const;
  void ResetOne(std::size_t index);
  void Observe(std::size_t index) { envs_[index]->Observe(shown_[current_].rows[index]); }
  void RefuseOver(std::size_t index) const;
  void StepOne(std::size_t index, std::span<const float> action);

  std::vector<std::unique_ptr<Env>> envs_;
  VectorEnvSpec spec_;
  std::vector<std::uint64_t> next_seed_;
  struct Shown {
    std::unique_ptr<ObservationBuffer> buffer;
    std::vector<ObservationView> rows;
  };
  std::vector<Shown> shown_;
  std::size_t current_ = 0;
  bool stale_ = false;  // the memory changed since rows were written
  ObservationBuffer final_observation_;
  std::vector<ObservationView> final_views_;
  std::vector<double> rewards_;
  std::vector<std::uint8_t> terminated_;
  std::vector<std::uint8_t> truncated_;
  std::vector<std::uint8_t> final_mask_;
  std::vector<StepInfo> infos_;
  std::vector<StepInfo> final_infos_;
  std::vector<std::exception_ptr> errors_;
  bool ready_ = false;
  Autoreset autoreset_;
  std::vector<std::uint8_t> over_;    // by environment: its episode ended and no other began
  std::vector<float> sent_;           // actions, by environment
  std::unique_ptr<StepQueue> queue_;  // from the first Send on
  ThreadTeam team_;
  struct alignas(64) Share {  // a cache line each
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };
  std::vector<Share> shares_;  // of the environments, by thread
};

}  // namespace allot
