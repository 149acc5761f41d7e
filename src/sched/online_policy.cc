#include "sched/online_policy.h"

#include "core/error.h"

namespace allot {

std::unique_ptr<Policy> MakeOnlinePolicy(std::string_view spec, const ParamLoader& loader) {
  std::unique_ptr<Policy> policy = MakePolicy(spec, loader);
  if (policy->info().oracle) {
    throw UsageError("policy '{}' needs to know the future, which no real cluster knows",
                     policy->info().id);
  }
  return policy;
}

}  // namespace allot
