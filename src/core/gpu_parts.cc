#include "core/gpu_parts.h"

#include <algorithm>

#include "core/strings.h"

namespace allot {
namespace {

constexpr std::string_view kFigures = "0123456789";

// "3g.20gb" at the beginning of the text, whatever follows ("+me").
bool BeginsWithProfile(std::string_view text) {
  const std::size_t slices = std::min(text.find_first_not_of(kFigures), text.size());
  text.remove_prefix(slices);
  if (slices == 0 || !text.starts_with("g.")) return false;
  text.remove_prefix(2);
  const std::size_t memory = std::min(text.find_first_not_of(kFigures), text.size());
  return memory > 0 && text.substr(memory).starts_with("gb");
}

}  // namespace

bool NamesPartOfGpu(std::string_view type) {
  const std::string lower = ToLower(type);
  const std::string_view name = lower;
  if (name.ends_with("-shared") || name.starts_with("mig-")) return true;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (BeginsWithProfile(name.substr(at))) return true;
  }
  return false;
}

}  // namespace allot
