#pragma once
// The agent's side of a decision: an observation as tensors, and actions back into an allocation.
// The environment, and trained networks that decide as policies, see and act through this alone.

#include <span>
#include <vector>

#include "envs/observation_buffer.h"
#include "envs/spaces.h"
#include "features/choice_action.h"
#include "features/encoder.h"
#include "features/index_action.h"
#include "features/sequence_action.h"

namespace allot {

// What an action is: scores of all jobs (features/index_action.h) in units of kIndexActionScale,
// one unit more or the end of the decision (sequence_action.h), a configuration for each job
// (choice_action.h).
enum class ActionMode { kIndex, kSequence, kChoice };

// A score is an index action times this: the action's bounds are -1 and 1, as algorithms that
// squash their actions need, and +-8 are a factor of e^16 between two jobs' values. A power of two,
// so that a score divided by it and multiplied again is the same float. Numbers beyond the bounds
// count as they are, up to kScoreBound.
inline constexpr float kIndexActionScale = 8;

struct AgentSideOptions {
  ActionMode mode = ActionMode::kIndex;
  int max_jobs = 128;           // window: the first jobs by submission; later ones are served last
                                // by an index, and get nothing by the others
  int max_configurations = 64;  // of a job's table, that a choice can name
  bool configurations = false;  // observations hold the jobs' tables (configuration_tensor.h)
  int graph_nodes = 0;          // observations hold so many nodes, and edges (graph_tensors.h)
  std::string placement = "packed";
  LengthModel lengths{};  // what forecasts of remaining time know beforehand
  bool features = true;   // false: features() and Observe are not used
  bool strict = false;    // an illegal action throws UsageError instead of being ignored
};

// UsageError for a window or a width that is none.
EnvSpec AgentSideSpec(const AgentSideOptions& options);

class AgentSide {
 public:
  struct Acted {
    bool decided = false;       // the allocation is whole (always but in sequence mode)
    bool illegal = false;       // the action, or a part of it, was ignored
    std::int32_t unplaced = 0;  // jobs whose choice did not fit
  };

  explicit AgentSide(const AgentSideOptions& options);

  void OnEpisodeStart() { encoder_.OnEpisodeStart(); }
  // A new decision; each observation once, in their order.
  void Begin(const Observation& observation);
  // Of the decision begun last. UsageError for a wrong number of numbers.
  Acted Act(const Observation& observation, std::span<const float> action, Allocation* allocation);
  void Observe(const Observation& observation, const ObservationView& view) const;

  const EnvSpec& spec() const { return spec_; }
  const FeatureBatch& features() const { return features_; }

 private:
  Acted ActByIndex(const Observation& observation, std::span<const float> action,
                   Allocation* allocation);
  Acted ActByChoice(std::span<const float> action, Allocation* allocation);
  Acted ActByUnit(std::span<const float> action, Allocation* allocation);

  void ObserveMask(std::size_t jobs, std::span<std::uint8_t> mask) const;

  AgentSideOptions options_;
  EnvSpec spec_;
  FeatureEncoder encoder_;
  FeatureBatch features_;
  IndexAction index_action_;
  SequenceAction sequence_action_;
  ChoiceAction choice_action_;
  std::vector<Score> scores_;
};

}  // namespace allot
