#pragma once
// A stage named inside a policy's spec.

#include <string>

namespace allot {

// "hull/alpha=0.5/beta=1" -> "hull:alpha=0.5,beta=1". A slash parts where a key follows, so that
// values may be paths.
std::string NestedSpec(std::string text);

}  // namespace allot
