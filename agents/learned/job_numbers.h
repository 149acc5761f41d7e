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
