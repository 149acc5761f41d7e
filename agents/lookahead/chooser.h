#pragma once
// A policy that chooses among policies. At each choice every candidate is simulated ahead on the
// known jobs (sim/lookahead_simulation.h), and the one with the least mean JCT of these decides
// until the next choice; of equal ones the first. All candidates see every observation, so that
// their state is up to date when they are chosen.
//
// A choice costs one simulated future a candidate, at most horizon / step decisions each plus one a
// completion; simulations that have become worse than the best are stopped.

#include <string>
#include <vector>

#include "sched/incremental.h"
#include "sim/lookahead_simulation.h"

namespace allot {

struct ChooserOptions {
  SimOptions rules;  // of the simulated futures
  int every = 1;     // intervals between choices
  int horizon = 0;   // intervals that a future is followed; 0: to the last completion
  int step = 1;      // intervals between the decisions of a future, completions aside
};

class LookaheadChooser : public Policy, public IncrementalPolicy {
 public:
  // `candidates`: policy specs, at least one; UsageError for unknown ones. `loader`: of MakePolicy.
  LookaheadChooser(PolicyInfo info, const std::vector<std::string>& candidates,
                   const ChooserOptions& options, const ParamLoader& loader = {});

  const PolicyInfo& info() const override { return info_; }
  void OnEpisodeStart(const EpisodeContext& context) override;
  void Decide(const Observation& observation, Allocation* allocation) override;
  IncrementalPolicy* incremental() override { return this; }
  // What the chosen one promises, at most to the next choice.
  Seconds HoldsUntil(const Observation& observation,
                     std::span<const std::int32_t> running) override;

  std::size_t chosen() const { return chosen_; }  // of the candidates, at the last decision

 private:
  struct Candidate {
    std::unique_ptr<Policy> present;  // sees what happens
    std::unique_ptr<Policy> future;   // plays what might
    Allocation answer;
  };
  std::size_t Choose(const Observation& observation);

  PolicyInfo info_;
  ChooserOptions options_;
  std::vector<Candidate> candidates_;
  std::size_t chosen_ = 0;
  Seconds next_choice_ = 0;
};

// The parameters of ChooserOptions, for PolicyInfo::params, and what they say. `profile` is the
// name of the world in which the futures are simulated (sim/profile.h).
std::vector<ParamSpec> ChooserParams(int horizon, int step);
ChooserOptions ChooserOptionsOf(const Params& params);

}  // namespace allot
