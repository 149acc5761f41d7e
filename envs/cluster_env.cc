#include "envs/cluster_env.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "core/rng.h"

namespace allot {
namespace {

// Places in EnvSpec::observation.
enum Tensor : std::size_t { kJobs, kContext, kJobMask, kGranted, kJobIds, kActionMask, kTensors };

// Choices and actions are given as floats, which hold whole numbers up to 2^24.
constexpr int kMostJobs = 1 << 20;
constexpr int kMostConfigurations = std::numeric_limits<std::int16_t>::max();

}  // namespace

std::uint64_t NextEpisodeSeed(std::uint64_t seed) {
  return Rng(seed, "next-episode").NextU64() >> 16;
}

EnvSpec ClusterEnvSpec(const ClusterEnvOptions& options) {
  const std::int64_t jobs = options.max_jobs;
  if (options.max_jobs < 1 || options.max_jobs > kMostJobs) {
    throw UsageError("max-jobs must be 1..{}, got {}", kMostJobs, options.max_jobs);
  }
  if (options.max_configurations < 1 || options.max_configurations > kMostConfigurations) {
    throw UsageError("max-configurations must be 1..{}, got {}", kMostConfigurations,
                     options.max_configurations);
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
  // 1: legal, by action (sequence mode), by slot and choice (choice mode); as job_mask (index).
  spec.observation[kActionMask] = {"action_mask", "uint8", {jobs}, 0, 1};
  // Numbers of the jobs in the workload, -1 where there is none: to name them, not to learn from.
  spec.observation[kJobIds] = {"job_ids", "int64", {jobs}, -1, 1e9};
  std::int64_t& masked = spec.observation[kActionMask].shape.front();
  switch (options.mode) {
    case ActionMode::kIndex:
      spec.action = {"action", "float32", {jobs, kIndexOutputs}, -kScoreBound, kScoreBound};
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
  return spec;
}

ClusterEnv::ClusterEnv(EpisodeSource episodes, ClusterEnvOptions options)
    : episodes_(std::move(episodes)),
      options_(std::move(options)),
      spec_(ClusterEnvSpec(options_)),
      reward_(GetReward(options_.reward)),
      encoder_(options_.lengths),
      index_action_(options_.placement),
      sequence_action_(options_.max_jobs, options_.placement),
      choice_action_(options_.max_jobs, options_.max_configurations, options_.placement) {}

StepInfo ClusterEnv::Reset(std::optional<std::uint64_t> seed) {
  if (seed) next_seed_ = *seed;
  scenario_ = episodes_(next_seed_);
  next_seed_ = NextEpisodeSeed(next_seed_);
  cluster_ = std::make_unique<SimulatedCluster>(*scenario_);
  decisions_ = 0;
  over_ = false;
  encoder_.OnEpisodeStart();
  BeginDecision();
  return Info();
}

void ClusterEnv::BeginDecision() {
  if (options_.features) encoder_.Encode(cluster_->Observe(), &features_);
  if (options_.mode == ActionMode::kSequence) sequence_action_.Begin(cluster_->Observe());
  if (options_.mode == ActionMode::kChoice) choice_action_.Begin(cluster_->Observe());
}

StepInfo ClusterEnv::Info() const {
  const Observation& o = cluster_->Observe();
  StepInfo info;
  info.time_s = o.now;
  info.decision = o.decision;
  info.active_jobs = o.rows();
  return info;
}

StepResult ClusterEnv::StepAllocation(const Allocation& allocation) {
  if (over_) throw UsageError("step after the end of the episode: call reset first");
  const ApplyReport report = cluster_->Apply(allocation);
  if (!report.refused.ok()) {
    throw RunError("decision {} at {} s: {}", decisions_, cluster_->Observe().now,
                   report.refused.message());
  }
  ++decisions_;
  StepResult result;
  const bool more = cluster_->WaitForChange(0);
  result.reward = reward_.compute(cluster_->last_step(), cluster_->Observe());
  result.terminated = !more;
  result.truncated = more && decisions_ >= options_.max_decisions;
  over_ = result.terminated || result.truncated;
  BeginDecision();
  result.info = Info();
  result.info.finished_jobs = cluster_->last_step().finished;
  result.info.decided = true;
  result.info.dt_s = cluster_->last_step().elapsed;
  if (over_) SumUp(&result.info);
  return result;
}

void ClusterEnv::SumUp(StepInfo* info) const {
  double total = 0;
  std::int64_t done = 0;
  for (const JobRecord& record : cluster_->records()) {
    if (record.finish == kNever) continue;
    total += record.finish - record.submit;
    info->makespan_s = std::max(info->makespan_s, record.finish);
    ++done;
  }
  if (done > 0) info->avg_jct_s = total / static_cast<double>(done);
}

StepResult ClusterEnv::Step(std::span<const float> action) {
  if (over_) throw UsageError("step after the end of the episode: call reset first");
  switch (options_.mode) {
    case ActionMode::kIndex:
      return StepIndex(action);
    case ActionMode::kSequence:
      return StepSequence(action);
    case ActionMode::kChoice:
      return StepChoice(action);
  }
  return {};
}

StepResult ClusterEnv::StepIndex(std::span<const float> action) {
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
  const auto rows = static_cast<std::size_t>(cluster_->Observe().rows());
  // Jobs beyond the window are served last.
  scores_.assign(rows, Score{-kScoreBound, 0.0F, 0.0F});
  for (std::size_t row = 0; row < std::min(rows, static_cast<std::size_t>(options_.max_jobs));
       ++row) {
    scores_[row] = {action[row * 3], action[row * 3 + 1], action[row * 3 + 2]};
  }
  index_action_.Decode(cluster_->Observe(), std::span<const Score>(scores_), &allocation_);
  StepResult result = StepAllocation(allocation_);
  result.info.illegal_action = wrong != action.end();
  return result;
}

StepResult ClusterEnv::StepSequence(std::span<const float> action) {
  if (action.size() != 1)
    throw UsageError("a sequence action is one number, got {}", action.size());
  const int chosen =
      std::isfinite(action[0]) ? static_cast<int>(std::clamp(action[0], -1.0F, 1e9F)) : -1;
  if (chosen == sequence_action_.done_action()) {
    sequence_action_.Finish(&allocation_);
    return StepAllocation(allocation_);
  }
  StepResult result;
  const bool legal = sequence_action_.Take(chosen);
  if (!legal && options_.strict) {
    throw UsageError("illegal action {}: the mask allows it not (actions 0..{})", chosen,
                     sequence_action_.action_count() - 1);
  }
  result.info = Info();
  result.info.illegal_action = !legal;
  return result;
}

StepResult ClusterEnv::StepChoice(std::span<const float> action) {
  if (action.size() != At(options_.max_jobs)) {
    throw UsageError("a choice action has {} numbers (one a slot), got {}", options_.max_jobs,
                     action.size());
  }
  const ChoiceAction::Served served = choice_action_.Decode(action, &allocation_);
  const int illegal = served.illegal_slot;
  if (illegal >= 0 && options_.strict) {
    throw UsageError("illegal choice {} in slot {}: the mask allows it not (choices 0..{})",
                     action[At(illegal)], illegal, options_.max_configurations);
  }
  StepResult result = StepAllocation(allocation_);
  result.info.illegal_action = illegal >= 0;
  result.info.unplaced_jobs = served.unplaced;
  return result;
}

void ClusterEnv::Observe(const ObservationView& view) const {
  const Observation& o = cluster_->Observe();
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
  const std::span<std::uint8_t> action_mask = view.bytes(kActionMask);
  if (options_.mode == ActionMode::kIndex) {
    std::copy(job_mask.begin(), job_mask.end(), action_mask.begin());
    return;
  }
  if (options_.mode == ActionMode::kChoice) {
    std::copy(choice_action_.mask().begin(), choice_action_.mask().end(), action_mask.begin());
    return;
  }
  for (std::size_t row = 0; row < jobs; ++row) {
    const std::int32_t chosen = sequence_action_.granted(static_cast<std::int32_t>(row));
    if (chosen >= 0) granted[row] = static_cast<float>((*o.table[row])[chosen].cost);
  }
  std::copy(sequence_action_.mask().begin(), sequence_action_.mask().end(), action_mask.begin());
}

}  // namespace allot
