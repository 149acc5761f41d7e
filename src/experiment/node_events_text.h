#pragma once
// What nodes that go down while jobs run mean for the figures of a run, as a sentence. Used by
// experiments and what-if.

#include <string>

#include "sim/scenario.h"

namespace allot {

// "" where all nodes stay.
std::string NodeEventsInWords(const SimOptions& options);

}  // namespace allot
