#include "sim/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/params.h"
#include "core/strings.h"
#include "sched/policy.h"
#include "sched/policy_family.h"

namespace allot {
namespace {

constexpr const char* kWorld = "world";

bool NamesNoWorld(const NamedParams& policy) {
  const PolicyInfo* info = Registry<PolicyInfo>::Global().Find(policy.name);
  return info != nullptr && !policy.given.contains(kWorld) &&
         std::any_of(info->params.begin(), info->params.end(),
                     [](const ParamSpec& param) { return param.name == kWorld; });
}

// A name that means something under other profiles alone.
void RefuseOthersPolicy(const ProfileInfo& profile, const std::string& name) {
  if (Registry<PolicyInfo>::Global().Find(name) != nullptr) return;
  std::vector<std::string> having;
  for (const ProfileInfo& other : Registry<ProfileInfo>::Global().entries()) {
    if (other.policies.contains(name)) having.push_back("--profile " + other.id);
  }
  if (having.empty()) return;
  throw UsageError("policy '{}' is known under {} only, the profile is '{}'", name,
                   Join(having, ", "), profile.id);
}

}  // namespace

std::string PolicySpecUnder(const ProfileInfo& profile, std::string_view spec) {
  if (FamilyOf(spec) != nullptr) return std::string(spec);
  const NamedParams named = ParseNamedParams(spec);
  const auto known = profile.policies.find(named.name);
  if (known == profile.policies.end()) {
    RefuseOthersPolicy(profile, named.name);
    return NamesNoWorld(named) ? fmt::format("{}{}world={}", spec, named.given.empty() ? ':' : ',',
                                             profile.policy_world())
                               : std::string(spec);
  }
  NamedParams base = ParseNamedParams(known->second);
  for (const auto& [key, value] : named.given) base.given[key] = value;
  std::string text = base.name;
  char separator = ':';
  for (const auto& [key, value] : base.given) {
    text += fmt::format("{}{}={}", separator, key, value);
    separator = ',';
  }
  return text;
}

std::vector<std::string> FilesOfPolicyUnder(const ProfileInfo& profile, const std::string& spec) {
  return FilesOfPolicy(PolicySpecUnder(profile, spec));
}

std::string RepairedUnder(const ProfileInfo& profile, const std::string& spec) {
  const std::size_t end = std::min(spec.find(':'), spec.size());
  const std::string repaired = spec.substr(0, end) + "-repaired";
  return profile.policies.contains(repaired) ? repaired + spec.substr(end) : spec;
}

std::string ComparedPolicies() {
  return Join({std::begin(kComparedPolicies), std::end(kComparedPolicies)}, ",");
}

std::string ComparedUnder(const ProfileInfo& profile) {
  if (!profile.compared.empty()) return profile.compared;
  std::vector<std::string> policies;
  for (const char* spec : kComparedPolicies) policies.push_back(RepairedUnder(profile, spec));
  return Join(policies, ",");
}

}  // namespace allot
