#include "sim/profile.h"

#include "core/params.h"
#include "sched/policy.h"

namespace allot {

std::string PolicySpecUnder(const ProfileInfo& profile, std::string_view spec) {
  const NamedParams named = ParseNamedParams(spec);
  const auto known = profile.policies.find(named.name);
  if (known == profile.policies.end()) return std::string(spec);
  NamedParams base = ParseNamedParams(known->second);
  const PolicyInfo& info = Registry<PolicyInfo>::Global().Get("policy", base.name);
  const std::string owner = fmt::format("policy '{}'", named.name);
  for (const auto& [key, value] : WithPresentNames(owner, info.params, named.given)) {
    base.given[key] = value;
  }
  std::string text = base.name;
  char separator = ':';
  for (const auto& [key, value] : base.given) {
    text += separator + key + "=" + value;
    separator = ',';
  }
  return text;
}

std::string RepairedUnder(const ProfileInfo& profile, const std::string& name) {
  const std::string repaired = name + "-repaired";
  return profile.policies.contains(repaired) ? repaired : name;
}

}  // namespace allot
