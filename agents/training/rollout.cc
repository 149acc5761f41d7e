#include "agents/training/rollout.h"

#include <algorithm>

#include "agents/training/training_episode.h"
#include "core/check.h"
#include "core/rng.h"
#include "sim/run.h"

namespace allot {
namespace {

TrainingEpisode Begin(const std::shared_ptr<const Scenario>& scenario,
                      const RolloutOptions& options) {
  ClusterEnvOptions env;
  env.reward = options.reward;
  env.max_decisions = options.max_decisions;
  env.features = false;  // explorers and policies look for themselves
  return {scenario, env};
}

bool Explored(std::span<const float> gradient) {
  return std::any_of(gradient.begin(), gradient.end(), [](float g) { return g != 0; });
}

EpisodeContext ContextFor(const Scenario& scenario) {
  EpisodeContext context = ContextOf(scenario);
  context.seed = 0;
  return context;
}

}  // namespace

Rollout RunRollout(const std::shared_ptr<const Scenario>& scenario, const NetWeights& weights,
                   const RolloutOptions& options, std::uint64_t seed, std::uint64_t a,
                   std::uint64_t b, const std::string& world) {
  Rollout rollout;
  TrainingEpisode episode = Begin(scenario, options);
  const std::unique_ptr<NumbersExplorer> explorer =
      MakeNumbersExplorer(options.exploration, {weights, options.lengths}, world, options.tau);
  explorer->OnEpisodeStart(ContextFor(*scenario));
  const std::uint64_t noise = Rng(seed, "rollout", a, b).NextU64();
  std::int64_t period = -1;  // of equal noise
  Rng selection(seed, "kept-decisions", a, b);
  Allocation allocation;
  BacklogMeter meter(*scenario);
  while (!episode.over()) {
    const Observation& o = episode.observation();
    const std::int32_t tick = episode.tick();
    const bool fresh = tick / options.noise_interval != period;
    period = tick / options.noise_interval;
    Rng exploration(noise, "hold", static_cast<std::uint64_t>(period));
    explorer->Decide(o, &exploration, &allocation);

    const std::span<const float> gradient = explorer->gradient();
    if (fresh && selection.Uniform() < options.keep && Explored(gradient)) {
      const FeatureBatch& features = explorer->features();
      const auto decision = static_cast<std::int64_t>(rollout.tick_of_decision.size());
      rollout.jobs.insert(rollout.jobs.end(), features.jobs.begin(), features.jobs.end());
      rollout.contexts.insert(rollout.contexts.end(), features.context.begin(),
                              features.context.end());
      rollout.decision_of_job.insert(rollout.decision_of_job.end(), o.job.size(), decision);
      rollout.score_gradient.insert(rollout.score_gradient.end(), gradient.begin(), gradient.end());
      rollout.tick_of_decision.push_back(tick);
    }
    auto& backlogs = rollout.backlog_of_tick;
    if (options.backlogs && std::ssize(backlogs) <= tick) {
      backlogs.resize(static_cast<std::size_t>(tick) + 1,
                      backlogs.empty() ? Backlog{} : backlogs.back());
      backlogs.back() = meter.Of(o);
    }
    episode.Step(allocation);
  }
  rollout.reward_of_tick = episode.reward_of_tick();
  rollout.total_reward = episode.total_reward();
  return rollout;
}

double EpisodeReward(const std::shared_ptr<const Scenario>& scenario, Policy& policy,
                     const RolloutOptions& options) {
  TrainingEpisode episode = Begin(scenario, options);
  policy.OnEpisodeStart(ContextFor(*scenario));
  Allocation allocation;
  while (!episode.over()) {
    policy.Decide(episode.observation(), &allocation);
    episode.Step(allocation);
  }
  return episode.total_reward();
}

std::vector<double> ReturnsFrom(const std::vector<double>& reward_of_tick, double discount) {
  std::vector<double> returns(reward_of_tick.size() + 1, 0.0);
  for (std::size_t t = reward_of_tick.size(); t-- > 0;) {
    returns[t] = reward_of_tick[t] + discount * returns[t + 1];
  }
  returns.pop_back();
  return returns;
}

std::vector<std::vector<double>> LeaveOneOutAdvantages(
    const std::vector<std::vector<double>>& returns) {
  ALLOT_CHECK_GE(returns.size(), std::size_t{2});
  std::size_t longest = 0;
  for (const auto& one : returns) longest = std::max(longest, one.size());
  std::vector<double> sum(longest, 0.0);
  for (const auto& one : returns) {
    for (std::size_t t = 0; t < one.size(); ++t) sum[t] += one[t];
  }
  std::vector<std::vector<double>> advantages = returns;
  const double others = static_cast<double>(returns.size() - 1);
  for (auto& one : advantages) {
    for (std::size_t t = 0; t < one.size(); ++t) one[t] -= (sum[t] - one[t]) / others;
  }
  return advantages;
}

}  // namespace allot
