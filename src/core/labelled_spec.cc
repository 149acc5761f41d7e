#include "core/labelled_spec.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr std::size_t kLongestName = 32;

bool IsLabel(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || byte >= 0x80 ||
           std::string_view(" -_.+").find(c) != std::string_view::npos;
  });
}

std::string_view HeadOf(std::string_view spec) { return spec.substr(0, spec.find(':')); }

std::vector<std::string_view> ParametersOf(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string_view::npos) return {};
  return Split(spec.substr(colon + 1), ',');
}

}  // namespace

LabelledSpec ReadLabel(std::string_view text) {
  text = Trim(text);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || text.find(':') < equals) {
    return {std::string(text), std::string(text)};
  }
  const std::string_view label = Trim(text.substr(0, equals));
  const std::string_view spec = Trim(text.substr(equals + 1));
  if (!IsLabel(label) || spec.empty()) {
    throw UsageError(
        "a policy is SPEC, or NAME=SPEC with a name of letters, digits, ' ', '-', '_', '.' and "
        "'+', got '{}'",
        text);
  }
  return {std::string(label), std::string(spec)};
}

std::vector<std::string> NamesForTables(const std::vector<std::string>& specs) {
  std::vector<std::string> names;
  const auto taken = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end() ||
           std::find(specs.begin(), specs.end(), name) != specs.end();
  };
  for (const std::string& spec : specs) {
    if (spec.size() <= kLongestName) {
      names.push_back(spec);
      continue;
    }
    const std::string head(HeadOf(spec));
    std::string name = head + ":…";
    for (const std::string_view parameter : ParametersOf(spec)) {
      const auto has_it = [&](const std::string& other) {
        const auto theirs = ParametersOf(other);
        return HeadOf(other) != head || other.size() <= kLongestName ||
               std::find(theirs.begin(), theirs.end(), parameter) != theirs.end();
      };
      if (std::all_of(specs.begin(), specs.end(), has_it)) continue;
      const std::string longer = name + "," + std::string(parameter);
      if (longer.size() <= kLongestName) name = longer;
    }
    std::string unique = name;
    for (int n = 2; taken(unique); ++n) unique = fmt::format("{} ({})", name, n);
    names.push_back(std::move(unique));
  }
  return names;
}

}  // namespace allot
