#pragma once
// Notes on the reading of a trace, as lines for stderr. Used by the commands.

#include <string>

#include "workload/trace_reader.h"

namespace allot {

// The rows of the trace at `path` that were left out, by reason; "" without such.
std::string ReadNote(const std::string& path, const ReadReport& report);

}  // namespace allot
