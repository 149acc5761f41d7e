#include "sim/checkpoint_rule.h"

namespace allot {

std::unique_ptr<CheckpointRule> MakeCheckpointRule(std::string_view spec) {
  const NamedParams given = ParseNamedParams(spec);
  const auto& info = Registry<CheckpointRuleInfo>::Global().Get("checkpoint rule", given.name);
  return info.make(Params(fmt::format("checkpoint rule '{}'", info.id), info.params, given.given));
}

}  // namespace allot
