#include "workload/communication.h"

#include <algorithm>

namespace allot {

const std::vector<std::string>& CommunicationPatternNames() {
  static const std::vector<std::string> names = {"ring", "all-to-all"};
  return names;
}

std::optional<CommunicationPattern> ParseCommunicationPattern(std::string_view name) {
  const auto& names = CommunicationPatternNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<CommunicationPattern>(found - names.begin());
}

}  // namespace allot
