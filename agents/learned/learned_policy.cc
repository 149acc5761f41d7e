// The policy 'learned': whatever network the checkpoint holds. Torch-free.

#include "agents/learned/agent.h"
#include "core/error.h"

namespace allot {
namespace {

PolicyInfo LearnedInfo() {
  PolicyInfo info;
  info.id = "learned";
  info.summary = "a trained network from a checkpoint folder";
  info.needs_lengths = true;
  info.time_driven = true;
  info.params = {{"checkpoint", "", "checkpoint folder"},
                 {"placement", "packed", "stage: which GPUs on which nodes"}};
  info.make = [](const Params& params) -> std::unique_ptr<Policy> {
    if (params.Text("checkpoint").empty()) {
      throw UsageError("policy 'learned' needs a checkpoint folder: learned:checkpoint=DIR");
    }
    return MakeLearnedPolicy(LoadAgent(params.Text("checkpoint")), params.Text("placement"));
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, LearnedInfo());

}  // namespace
}  // namespace allot
