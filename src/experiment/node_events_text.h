#pragma once
// A sentence on how nodes that go down during a run affect its results. Used by experiments and
// what-if.

#include <string>

#include "sim/scenario.h"

namespace allot {

// "" if no node goes down.
std::string NodeEventsInWords(const SimOptions& options);

}  // namespace allot
