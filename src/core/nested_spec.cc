#include "core/nested_spec.h"

namespace allot {

std::string NestedSpec(std::string text) {
  char part = ':';
  for (std::size_t at = 0; (at = text.find('/', at)) != std::string::npos; ++at) {
    const std::size_t end = text.find_first_of("/=", at + 1);
    if (end == std::string::npos || text[end] != '=') continue;
    text[at] = part;
    part = ',';
  }
  return text;
}

}  // namespace allot
