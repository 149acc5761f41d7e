#pragma once
// N environments stepped as one, over threads, into contiguous buffers: what trainers and the
// Python vector env call.
//
// Autoreset is Gymnasium's SAME_STEP: when an episode ends, the step resets that environment. Then
// reward, terminated and truncated are those of the last step, final_observation() and final_info()
// keep what that step showed, and observation() and info() already belong to the new episode.
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
#include "envs/thread_team.h"

namespace allot {

struct VectorEnvSpec {
  EnvSpec single;  // of each environment
  std::int64_t num_envs = 0;
  std::string_view autoreset_mode =
      "SameStep";  // the value of Gymnasium's metadata["autoreset_mode"]
};

class VectorEnv {
 public:
  using Factory = std::function<std::unique_ptr<Env>(std::int64_t index)>;

  // Calls the factory for 0, 1, ... count - 1; all must have the same spec. threads <= 0: all
  // cores; fewer are used where there are not two environments for each. UsageError when count < 1.
  VectorEnv(std::int64_t count, const Factory& factory, int threads = 1);

  const VectorEnvSpec& spec() const { return spec_; }
  int threads() const { return team_.parts(); }

  // Begins an episode everywhere, environment i with seeds[i], or seed + i. Its later episodes take
  // seeds[i] + N, seeds[i] + 2N, ..., so that with one seed no two environments ever share an
  // episode. Without a seed each starts the next of these (the first time, as if the seed were
  // 0).
  void Reset(std::optional<std::uint64_t> seed);
  void Reset(std::span<const std::uint64_t> seeds);

  // N x EnvSpec::action.elements() floats. UsageError for another size or before the first Reset.
  // Allocates nothing beyond what the environments do.
  void Step(std::span<const float> actions);

  // If environments throw in Reset or Step, all others still finish theirs; then the error of the
  // lowest index is rethrown, and Step refuses until the next Reset.

  // Environment i at row i. The addresses hold as long as the VectorEnv.
  const ObservationBuffer& observation() const { return observation_; }
  std::span<const double> rewards() const { return rewards_; }
  std::span<const std::uint8_t> terminated() const { return terminated_; }
  std::span<const std::uint8_t> truncated() const { return truncated_; }
  std::span<const StepInfo> infos() const { return infos_; }

  // Rows are valid where final_mask is 1: episodes that ended in the last step.
  std::span<const std::uint8_t> final_mask() const { return final_mask_; }
  const ObservationBuffer& final_observation() const { return final_observation_; }
  std::span<const StepInfo> final_infos() const { return final_infos_; }

  const Env& env(std::int64_t index) const { return *envs_[static_cast<std::size_t>(index)]; }

 private:
  template <typename Body>
  void ForEach(const Body& body);  // body(env index) on the team; rethrows
  void ResetAll();                 // with next_seed_
  void ResetOne(std::size_t index);
  void StepOne(std::size_t index, std::span<const float> action);

  std::vector<std::unique_ptr<Env>> envs_;
  VectorEnvSpec spec_;
  std::vector<std::uint64_t> next_seed_;
  ObservationBuffer observation_;
  ObservationBuffer final_observation_;
  std::vector<ObservationView> views_;  // of row i
  std::vector<ObservationView> final_views_;
  std::vector<double> rewards_;
  std::vector<std::uint8_t> terminated_;
  std::vector<std::uint8_t> truncated_;
  std::vector<std::uint8_t> final_mask_;
  std::vector<StepInfo> infos_;
  std::vector<StepInfo> final_infos_;
  std::vector<std::exception_ptr> errors_;
  bool ready_ = false;
  ThreadTeam team_;
  struct alignas(64) Share {  // a cache line each
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };
  std::vector<Share> shares_;  // of the environments, by thread
};

}  // namespace allot
