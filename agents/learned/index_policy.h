#pragma once
// A trained index network as a policy: encode, one forward pass, hull fill, placement. Torch-free.

#include <string>

#include "agents/learned/index_agent.h"
#include "sched/policy.h"

namespace allot {

class IndexPolicy : public Policy {
 public:
  IndexPolicy(const IndexAgent& agent, PolicyInfo info, std::string_view placement = "packed");

  const PolicyInfo& info() const override { return info_; }
  void OnEpisodeStart(const EpisodeContext&) override { encoder_.OnEpisodeStart(); }
  // To be called for decisions that others make: what it would have seen at Decide.
  void Observe(const Observation& observation) { encoder_.Observe(observation); }
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
IndexAgent LoadIndexAgent(const std::string& checkpoint);

}  // namespace allot
