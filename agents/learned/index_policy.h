#pragma once
// A trained index network as a policy: encode, one forward pass, hull fill, placement. Torch-free.

#include <string>

#include "agents/learned/index_agent.h"
#include "sched/policy.h"

namespace allot {

class IndexPolicy : public Policy {
 public:
  IndexPolicy(const IndexNetWeights& weights, PolicyInfo info,
              std::string_view placement = "packed");

  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation& observation, Allocation* allocation) override;

 private:
  PolicyInfo info_;
  IndexNet net_;
  IndexNet::Scratch scratch_;
  FeatureEncoder encoder_;
  FeatureBatch features_;
  IndexAction action_;
  std::vector<float> scores_;
};

// Info of the registered policy "learned" (parameter: checkpoint folder).
const PolicyInfo& LearnedPolicyInfo();

// Loads and checks a checkpoint folder. DataError when it is damaged or of another version.
IndexNetWeights LoadIndexWeights(const std::string& checkpoint);

}  // namespace allot
