#pragma once
// What a parameter names with parameters of its own: a stage inside the spec of a policy.

#include <string>

namespace allot {

// "hull/alpha=0.5/beta=1" -> "hull:alpha=0.5,beta=1". A slash parts where a key follows, so that
// values may be paths.
std::string NestedSpec(std::string text);

}  // namespace allot
