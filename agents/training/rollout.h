#pragma once
// One episode of the sampled policy, with what a policy gradient needs of it.

#include <cstdint>
#include <memory>
#include <vector>

#include "agents/training/backlog.h"
#include "agents/training/numbers_explorer.h"
#include "length_model/length_model.h"
#include "sched/policy.h"
#include "sim/scenario.h"

namespace allot {

struct RolloutOptions {
  Exploration exploration = Exploration::kFill;
  double tau = 0.3;  // temperature of the sampled fill; standard deviation of the noise on u
  // Intervals for which each job keeps its exploration noise. Where restarts are expensive, new
  // noise at every interval mostly teaches that. Only the first decision of such a period has a
  // gradient.
  int noise_interval = 1;
  double keep = 1.0;                  // share of decisions whose gradient is kept (drawn by seed)
  std::int64_t max_decisions = 2000;  // truncation; what is left counts by unfinished.h
  std::string reward = "jct";
  LengthModel lengths{};  // what the policy knows of run times beforehand
  bool backlogs = false;  // whether they are wanted
};

struct Rollout {
  // The kept decisions, packed: rows of job features, one context and one tick per decision, and
  // per job row the gradient of the decision's log-probability by the network's outputs.
  std::vector<float> jobs;
  std::vector<float> contexts;
  std::vector<std::int64_t> decision_of_job;
  std::vector<float> score_gradient;
  std::vector<std::int32_t> tick_of_decision;  // decision instant / interval

  std::vector<double> reward_of_tick;  // 0 where no decision fell due
  std::vector<Backlog>
      backlog_of_tick;  // at its first decision, else as before; empty unless wanted
  double total_reward = 0;
};

// Equal arguments give equal results on any thread. `world` as in Serving.
Rollout RunRollout(const std::shared_ptr<const Scenario>& scenario, const NetWeights& weights,
                   const RolloutOptions& options, std::uint64_t seed, std::uint64_t a,
                   std::uint64_t b, const std::string& world = "");

// Sum of rewards of a policy on the scenario, cut at the same instant as a rollout: the unit in
// which returns are measured, and what validation compares.
double EpisodeReward(const std::shared_ptr<const Scenario>& scenario, Policy& policy,
                     const RolloutOptions& options);

// Discounted return from each tick on: G[t] = r[t] + discount x G[t + 1].
std::vector<double> ReturnsFrom(const std::vector<double>& reward_of_tick, double discount);

// advantage[k][t] = G_k[t] - mean over the other rollouts of the same arrivals at the same instant
// (leave-one-out; Mao et al., arXiv 1807.02264, show why the whole arrival sequence belongs in the
// baseline). Rollouts that ended earlier count as 0 there. Needs at least two rollouts.
std::vector<std::vector<double>> LeaveOneOutAdvantages(
    const std::vector<std::vector<double>>& returns);

}  // namespace allot
