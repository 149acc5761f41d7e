#include "sched/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/named_files.h"
#include "core/strings.h"
#include "sched/policy_family.h"

namespace allot {

const PolicyFamily* FamilyOf(std::string_view spec) {
  const std::string_view name = Trim(spec.substr(0, spec.find(':')));
  if (Registry<PolicyInfo>::Global().Find(name) != nullptr) return nullptr;
  for (const PolicyFamily& family : Registry<PolicyFamily>::Global().entries()) {
    const std::vector<std::string> names = family.names();
    if (std::find(names.begin(), names.end(), name) != names.end()) return &family;
  }
  return nullptr;
}

std::unique_ptr<Policy> MakePolicy(std::string_view spec, const ParamLoader& loader) {
  if (const PolicyFamily* family = FamilyOf(spec)) return family->make(spec);
  const NamedParams named = ParseNamedParams(spec);
  const auto& registry = Registry<PolicyInfo>::Global();
  const PolicyInfo* info = registry.Find(named.name);
  if (info == nullptr) {
    std::vector<std::string> known = registry.ids();
    for (const PolicyFamily& family : Registry<PolicyFamily>::Global().entries()) {
      for (std::string& name : family.names()) known.push_back(std::move(name));
    }
    throw UsageError("unknown policy '{}'{}", named.name, DidYouMean(named.name, known));
  }
  return info->make(
      Params(fmt::format("policy '{}'", info->id), info->params, named.given, loader));
}

std::vector<std::string> FilesOfPolicy(const std::string& spec) {
  const PolicyFamily* const family = FamilyOf(spec);
  if (family == nullptr) return FilesOfSpec<PolicyInfo>(spec);
  return family->files ? family->files(spec) : std::vector<std::string>{};
}

std::vector<std::string> FilesOfInnerPolicy(const std::string& value) {
  return value.empty() ? std::vector<std::string>{} : FilesOfPolicy(NestedSpec(value));
}

}  // namespace allot
