#include "envs/agent_side.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/index.h"
#include "features/configuration_tensor.h"
#include "features/graph_tensors.h"

namespace allot {
namespace {

// Places in EnvSpec::observation; after them those that options add.
enum Tensor : std::size_t { kJobs, kContext, kJobMask, kGranted, kJobIds, kActionMask, kTensors };

// Choices and actions are given as floats, which hold whole numbers up to 2^24.
constexpr int kMostJobs = 1 << 20;
constexpr int kMostConfigurations = std::numeric_limits<std::int16_t>::max();
constexpr int kMostNodes = 1 << 20;

void AddOptionalTensors(const AgentSideOptions& options, EnvSpec* spec) {
  const std::int64_t jobs = options.max_jobs;
  if (options.configurations) {
    spec->observation.push_back({"configurations",
                                 "float32",
                                 {jobs, options.max_configurations, kConfigurationColumns},
                                 -1,
                                 kConfigurationBound});
  }
  if (options.graph_nodes == 0) return;
  const std::int64_t nodes = options.graph_nodes;
  spec->observation.push_back({"nodes", "float32", {nodes, kNodeColumns}, -1, kNodeBound});
  spec->observation.push_back({"edges", "float32", {jobs, nodes}, 0, kNodeBound});
}

}  // namespace

EnvSpec AgentSideSpec(const AgentSideOptions& options) {
  const std::int64_t jobs = options.max_jobs;
  if (options.max_jobs < 1 || options.max_jobs > kMostJobs) {
    throw UsageError("max-jobs must be 1..{}, got {}", kMostJobs, options.max_jobs);
  }
  if (options.max_configurations < 1 || options.max_configurations > kMostConfigurations) {
    throw UsageError("max-configurations must be 1..{}, got {}", kMostConfigurations,
                     options.max_configurations);
  }
  if (options.graph_nodes < 0 || options.graph_nodes > kMostNodes) {
    throw UsageError("max-nodes must be 1..{}, got {}", kMostNodes, options.graph_nodes);
  }
  EnvSpec spec;
  spec.id = "allot/GpuCluster-v0";
  spec.observation.resize(kTensors);
  // Rows without a job are 0.
  spec.observation[kJobs] = {
      "jobs", "float32", {jobs, kJobFeatures}, -kFeatureBound, kFeatureBound};
  spec.observation[kContext] = {
      "context", "float32", {kContextFeatures}, -kFeatureBound, kFeatureBound};
  spec.observation[kJobMask] = {"job_mask", "uint8", {jobs}, 0, 1};  // 1: a job is there
  // Cost granted so far in this decision (sequence mode).
  spec.observation[kGranted] = {"granted", "float32", {jobs}, 0, 1e6};
  // 1: legal, by action (sequence mode), by slot and choice (choice mode), by slot (index): the
  // jobs that are there, or where there is none the first slot, so that a mask is never empty.
  spec.observation[kActionMask] = {"action_mask", "uint8", {jobs}, 0, 1};
  // Numbers of the jobs in the workload, -1 where there is none: to name them, not to learn from.
  spec.observation[kJobIds] = {"job_ids", "int64", {jobs}, -1, 1e9};
  std::int64_t& masked = spec.observation[kActionMask].shape.front();
  switch (options.mode) {
    case ActionMode::kIndex:
      spec.action = {"action", "float32", {jobs, kIndexOutputs}, -1, 1};
      break;
    case ActionMode::kSequence:
      spec.action_kind = ActionKind::kDiscrete;
      masked = jobs * SequenceAction::kKinds + 1;
      spec.action = {"action", "int64", {}, 0, static_cast<double>(masked - 1)};
      break;
    case ActionMode::kChoice:
      spec.action_kind = ActionKind::kMultiDiscrete;
      masked = jobs * (std::int64_t{options.max_configurations} + 1);
      spec.action = {"action", "int64", {jobs}, 0, static_cast<double>(options.max_configurations)};
      break;
  }
  AddOptionalTensors(options, &spec);
  return spec;
}

AgentSide::AgentSide(const AgentSideOptions& options)
    : options_(options),
      spec_(AgentSideSpec(options_)),
      encoder_(options_.lengths),
      index_action_(options_.placement),
      sequence_action_(options_.max_jobs, options_.placement),
      choice_action_(options_.max_jobs, options_.max_configurations, options_.placement) {}

void AgentSide::Begin(const Observation& observation) {
  if (options_.features) encoder_.Encode(observation, &features_);
  if (options_.mode == ActionMode::kSequence) sequence_action_.Begin(observation);
  if (options_.mode == ActionMode::kChoice) choice_action_.Begin(observation);
}

AgentSide::Acted AgentSide::Act(const Observation& observation, std::span<const float> action,
                                Allocation* allocation) {
  switch (options_.mode) {
    case ActionMode::kIndex:
      return ActByIndex(observation, action, allocation);
    case ActionMode::kSequence:
      return ActByUnit(action, allocation);
    case ActionMode::kChoice:
      return ActByChoice(action, allocation);
  }
  return {};
}

AgentSide::Acted AgentSide::ActByIndex(const Observation& o, std::span<const float> action,
                                       Allocation* allocation) {
  const std::size_t expected = At(options_.max_jobs) * kIndexOutputs;
  if (action.size() != expected) {
    throw UsageError("an index action has {} numbers (jobs x 3), got {}", expected, action.size());
  }
  const auto wrong =
      std::find_if(action.begin(), action.end(), [](float number) { return std::isnan(number); });
  if (wrong != action.end() && options_.strict) {
    throw UsageError("illegal index action: number {} of {} is NaN", wrong - action.begin(),
                     expected);
  }
  const auto rows = static_cast<std::size_t>(o.rows());
  // Jobs beyond the window are served last.
  scores_.assign(rows, Score{-kScoreBound, 0.0F, 0.0F});
  for (std::size_t row = 0; row < std::min(rows, static_cast<std::size_t>(options_.max_jobs));
       ++row) {
    scores_[row] = {kIndexActionScale * action[row * 3], kIndexActionScale * action[row * 3 + 1],
                    kIndexActionScale * action[row * 3 + 2]};
  }
  index_action_.Decode(o, std::span<const Score>(scores_), allocation);
  return {.decided = true, .illegal = wrong != action.end()};
}

AgentSide::Acted AgentSide::ActByUnit(std::span<const float> action, Allocation* allocation) {
  if (action.size() != 1)
    throw UsageError("a sequence action is one number, got {}", action.size());
  const int chosen =
      std::isfinite(action[0]) ? static_cast<int>(std::clamp(action[0], -1.0F, 1e9F)) : -1;
  if (chosen == sequence_action_.done_action()) {
    sequence_action_.Finish(allocation);
    return {.decided = true};
  }
  const bool legal = sequence_action_.Take(chosen);
  if (!legal && options_.strict) {
    throw UsageError("illegal action {}: the mask allows it not (actions 0..{})", chosen,
                     sequence_action_.action_count() - 1);
  }
  return {.illegal = !legal};
}

AgentSide::Acted AgentSide::ActByChoice(std::span<const float> action, Allocation* allocation) {
  if (action.size() != At(options_.max_jobs)) {
    throw UsageError("a choice action has {} numbers (one a slot), got {}", options_.max_jobs,
                     action.size());
  }
  const ChoiceAction::Served served = choice_action_.Decode(action, allocation);
  const int illegal = served.illegal_slot;
  if (illegal >= 0 && options_.strict) {
    throw UsageError("illegal choice {} in slot {}: the mask allows it not (choices 0..{})",
                     action[At(illegal)], illegal, options_.max_configurations);
  }
  return {.decided = true, .illegal = illegal >= 0, .unplaced = served.unplaced};
}

void AgentSide::Observe(const Observation& o, const ObservationView& view) const {
  const auto window = static_cast<std::size_t>(options_.max_jobs);
  const std::size_t jobs = std::min(window, o.job.size());
  const std::span<float> features = view.floats(kJobs);
  const auto rest = std::copy_n(features_.jobs.begin(), jobs * kJobFeatures, features.begin());
  std::fill(rest, features.end(), 0.0F);
  std::copy(features_.context.begin(), features_.context.end(), view.floats(kContext).begin());
  const std::span<std::uint8_t> job_mask = view.bytes(kJobMask);
  std::fill(job_mask.begin(), job_mask.end(), std::uint8_t{0});
  std::fill_n(job_mask.begin(), jobs, std::uint8_t{1});
  const std::span<float> granted = view.floats(kGranted);
  std::fill(granted.begin(), granted.end(), 0.0F);
  const std::span<std::int64_t> ids = view.integers(kJobIds);
  std::fill(std::copy_n(o.job.begin(), jobs, ids.begin()), ids.end(), -1);
  if (options_.mode == ActionMode::kSequence) {
    for (std::size_t row = 0; row < jobs; ++row) {
      const std::int32_t chosen = sequence_action_.granted(static_cast<std::int32_t>(row));
      if (chosen >= 0) granted[row] = static_cast<float>((*o.table[row])[chosen].cost);
    }
  }
  ObserveMask(jobs, view.bytes(kActionMask));
  std::size_t place = kTensors;
  if (options_.configurations) {
    WriteConfigurations(o, options_.max_jobs, options_.max_configurations, view.floats(place++));
  }
  if (options_.graph_nodes > 0) {
    WriteGraph(o, options_.max_jobs, options_.graph_nodes,
               {.nodes = view.floats(place), .edges = view.floats(place + 1)});
  }
}

void AgentSide::ObserveMask(std::size_t jobs, std::span<std::uint8_t> mask) const {
  switch (options_.mode) {
    case ActionMode::kIndex:
      std::fill(mask.begin(), mask.end(), std::uint8_t{0});
      std::fill_n(mask.begin(), std::max<std::size_t>(jobs, 1), std::uint8_t{1});
      return;
    case ActionMode::kChoice:
      std::copy(choice_action_.mask().begin(), choice_action_.mask().end(), mask.begin());
      return;
    case ActionMode::kSequence:
      std::copy(sequence_action_.mask().begin(), sequence_action_.mask().end(), mask.begin());
      return;
  }
}

}  // namespace allot
