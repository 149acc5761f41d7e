#include "agents/learned/index_policy.h"

#include "core/error.h"
#include "models/checkpoint.h"

namespace allot {

IndexPolicy::IndexPolicy(const IndexAgent& agent, PolicyInfo info, std::string_view placement)
    : info_(std::move(info)), net_(agent.weights), encoder_(agent.lengths), action_(placement) {}

void IndexPolicy::Decide(const Observation& observation, Allocation* allocation) {
  encoder_.Encode(observation, &features_);
  scores_.resize(observation.job.size() * kIndexOutputs);
  net_.Forward(features_.jobs, features_.context, scores_, &scratch_);
  action_.Decode(observation, std::span<const float>(scores_), allocation);
}

IndexAgent LoadIndexAgent(const std::string& checkpoint) {
  const Checkpoint loaded = LoadCheckpoint(checkpoint);
  RequireCompatible(loaded, kIndexKind, kFeatureVersion,
                    IndexAgentShape(loaded.weights.shape.hidden), checkpoint);
  IndexAgent agent{loaded.weights, {}};
  const auto run_times = loaded.state.find("run_times");
  if (run_times != loaded.state.end()) {
    agent.lengths.SetLearned(run_times->get<std::vector<std::vector<double>>>());
  }
  return agent;
}

namespace {

PolicyInfo MakeInfo() {
  PolicyInfo info;
  info.id = "learned";
  info.summary = "a trained index network from a checkpoint folder";
  info.needs_lengths = true;
  info.time_driven = true;
  info.params = {{"checkpoint", "", "checkpoint folder"},
                 {"placement", "packed", "stage: which GPUs on which nodes"}};
  info.make = [](const Params& params) -> std::unique_ptr<Policy> {
    if (params.Text("checkpoint").empty()) {
      throw UsageError("policy 'learned' needs a checkpoint folder: learned:checkpoint=DIR");
    }
    return std::make_unique<IndexPolicy>(LoadIndexAgent(params.Text("checkpoint")),
                                         LearnedPolicyInfo(), params.Text("placement"));
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, MakeInfo());

}  // namespace

const PolicyInfo& LearnedPolicyInfo() {
  return Registry<PolicyInfo>::Global().Get("policy", "learned");
}

}  // namespace allot
