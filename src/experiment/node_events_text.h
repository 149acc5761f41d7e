#pragma once
// Sentences on how nodes that go down or are lent affect the results of a run. Used by experiments
// and what-if.

#include <span>
#include <string>

#include "sim/scenario.h"

namespace allot {

// "" if no node goes down.
std::string NodeEventsInWords(const SimOptions& options);

// What services lend, on average over these runs; "" without services.
std::string LendingInWords(const SimOptions& options, std::span<const LendingFigures> runs);

}  // namespace allot
