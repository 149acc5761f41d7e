#include "sched/policy.h"

#include <fmt/format.h>

namespace allot {

std::unique_ptr<Policy> MakePolicy(std::string_view spec, const ParamLoader& loader) {
  const NamedParams named = ParseNamedParams(spec);
  const PolicyInfo& info = Registry<PolicyInfo>::Global().Get("policy", named.name);
  return info.make(Params(fmt::format("policy '{}'", info.id), info.params, named.given, loader));
}

}  // namespace allot
