// The policy 'learned': whatever network the checkpoint holds. Torch-free.

#include "agents/learned/agent.h"
#include "agents/learned/explanation.h"
#include "core/error.h"
#include "core/nested_spec.h"
#include "sched/stages.h"

namespace allot {
namespace {

Serving ServingOf(const Params& params) {
  return {.placement = params.Text("placement"),
          .world = params.Text("world"),
          .index = NestedSpec(params.Text("index"))};
}

PolicyInfo LearnedInfo() {
  PolicyInfo info;
  info.id = "learned";
  info.summary = "a trained network from a checkpoint folder";
  info.source = "allot, after Peng et al., DL2, TPDS 2021";
  info.needs_lengths = true;
  info.time_driven = true;
  info.params = {
      FileParam({"checkpoint", "", "checkpoint folder"}),
      StageParam<Placement>({"placement", "packed", "stage: which GPUs on which nodes"}),
      {"world", "",
       "of a network that adds to the fixed index of each world: which one (default: "
       "the profile)"},
      FileParam({"index", "", "of such a network: index/KEY=VALUE/... to add to, in place of it"},
                FilesOfInnerPolicy)};
  info.make = [](const Params& params) -> std::unique_ptr<Policy> {
    if (params.Text("checkpoint").empty()) {
      throw UsageError("policy 'learned' needs a checkpoint folder: learned:checkpoint=DIR");
    }
    return MakeLearnedPolicy(LoadAgent(params.Text("checkpoint")), ServingOf(params));
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, LearnedInfo());

}  // namespace

std::unique_ptr<Explainer> MakeExplainer(const NamedParams& policy) {
  const PolicyInfo& info = LearnedPolicyInfo();
  if (policy.name != info.id) return nullptr;
  const Params params("policy 'learned'", info.params, policy.given);
  return MakeExplainer(LoadAgent(params.Text("checkpoint")), ServingOf(params));
}

std::unique_ptr<Explainer> MakeExplainer(const Agent& agent, const Serving& serving) {
  const NetworkInfo& network = NetworkOf(agent.weights);
  if (network.make_explainer) return network.make_explainer(agent, serving.placement);
  std::unique_ptr<LearnedPolicy> policy = network.make_policy(agent, serving);
  auto* const explainer = dynamic_cast<Explainer*>(policy.get());
  if (explainer == nullptr) return nullptr;
  static_cast<void>(policy.release());
  return std::unique_ptr<Explainer>(explainer);
}

}  // namespace allot
