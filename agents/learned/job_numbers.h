#pragma once
// A policy whose network gives each job three numbers, from which a rule makes the allocation. In
// two halves, so that training can move the numbers in between.

#include <array>
#include <span>
#include <vector>

#include "agents/learned/agent.h"
#include "features/encoder.h"
#include "features/index_action.h"
#include "models/index_net.h"

namespace allot {

// One side of the margin of one job: a step that its network's rule has a key for, of the outputs
// (u, beta, kappa): u + log_gain - beta log_mid + kappa_sign kappa.
struct MarginStep {
  bool present = false;
  float log_gain = 0;
  float log_mid = 0;
  float kappa_sign = 0;
};

class NumbersPolicy : public LearnedPolicy {
 public:
  using PerOutput = std::array<float, kIndexOutputs>;

  explicit NumbersPolicy(const NetWeights& weights) : net_(IndexNetWeights(weights)) {}

  const PolicyInfo& info() const override { return LearnedPolicyInfo(); }
  void Decide(const Observation& observation, Allocation* allocation) final {
    Think(observation);
    Act(observation, outputs_, allocation);
  }

  // What the network sees; observes. Both halves' features until the next call.
  const FeatureBatch& Look(const Observation& observation) {
    Encode(observation, &features_);
    return features_;
  }
  // Looks, and works out the outputs of every row.
  void Think(const Observation& observation);
  const FeatureBatch& features() const { return features_; }
  std::span<const float> outputs() const { return outputs_; }  // rows x kIndexOutputs, row-major

  // Of outputs[i] of each row, which need not be the network's own, after Look or Think of the same
  // observation. Clears `allocation` first.
  virtual void Act(const Observation& observation, std::span<const float> outputs,
                   Allocation* allocation) = 0;

  // What a logged decision, which gave the job of `row` the configuration `given` (-1: nothing),
  // says of the keys: the last step that was taken and the one after it, each where there is one.
  // UsageError where the rule has no keys.
  virtual void Margin(const Observation& observation, std::int32_t row, std::int32_t given,
                      MarginStep* taken, MarginStep* untaken) const;

  // How much of each output exploration moves where it moves u by 1.
  virtual PerOutput Steps() const = 0;

 protected:
  virtual void Encode(const Observation& observation, FeatureBatch* features) = 0;

 private:
  IndexNet net_;
  IndexNet::Scratch scratch_;
  FeatureBatch features_;
  std::vector<float> outputs_;
};

// UsageError where the network gives no numbers.
std::unique_ptr<NumbersPolicy> MakeNumbersPolicy(const Agent& agent, const Serving& serving = {});

}  // namespace allot
