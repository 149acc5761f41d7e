#include "experiment/spec_list.h"

#include "core/error.h"
#include "core/strings.h"

namespace allot {

std::vector<std::string> SplitSpecs(const std::string& text) {
  std::vector<std::string> specs;
  for (const std::string_view part : Split(text, ',')) {
    if (Trim(text).empty()) throw UsageError("a name is missing, got '{}'", text);
    if (Trim(part).empty()) {
      throw UsageError("a name is missing between or after commas: '{}'", text);
    }
    // key=value without a name of its own continues the spec before it.
    const bool continues = !specs.empty() && part.find('=') < part.find(':') &&
                           specs.back().find(':') != std::string::npos;
    if (continues) {
      specs.back() += "," + std::string(part);
    } else {
      specs.emplace_back(Trim(part));
    }
  }
  return specs;
}

}  // namespace allot
