#include "experiment/spec_list.h"

#include <algorithm>

#include "core/error.h"
#include "core/labelled_spec.h"
#include "core/strings.h"
#include "sched/policy.h"

namespace allot {
namespace {

const PolicyInfo* PolicyOf(std::string_view spec) {
  return Registry<PolicyInfo>::Global().Find(std::string(spec.substr(0, spec.find(':'))));
}

// Whether "key=value" behind the spec is a policy with a label and no parameter of the spec's.
bool IsLabelled(const std::string& before, std::string_view key, std::string_view value) {
  const PolicyInfo* const info = PolicyOf(ReadLabel(before).spec);
  if (info == nullptr || PolicyOf(Trim(value)) == nullptr) return false;
  return std::none_of(info->params.begin(), info->params.end(),
                      [&](const ParamSpec& param) { return param.name == Trim(key); });
}

template <typename BeginsASpec>
std::vector<std::string> SplitWhere(const std::string& text, const BeginsASpec& begins) {
  std::vector<std::string> specs;
  for (const std::string_view part : Split(text, ',')) {
    if (Trim(text).empty()) throw UsageError("a name is missing, got '{}'", text);
    if (Trim(part).empty()) {
      throw UsageError("a name is missing between or after commas: '{}'", text);
    }
    // key=value without a name of its own continues the spec before it.
    const std::size_t equals = part.find('=');
    const bool continues = !specs.empty() && equals < part.find(':') &&
                           specs.back().find(':') != std::string::npos &&
                           !begins(specs.back(), part.substr(0, equals), part.substr(equals + 1));
    if (continues) {
      specs.back() += "," + std::string(part);
    } else {
      specs.emplace_back(Trim(part));
    }
  }
  return specs;
}

}  // namespace

std::vector<std::string> SplitSpecs(const std::string& text) {
  return SplitWhere(text, IsLabelled);
}

std::vector<std::string> SplitSettings(const std::string& text) {
  return SplitWhere(text, [](const auto&...) { return false; });
}

}  // namespace allot
