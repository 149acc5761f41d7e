#pragma once
// What a person should know of how a trace was read, as lines for stderr. Used by the commands.

#include <string>

#include "workload/trace_reader.h"

namespace allot {

// What reading the trace at `path` left out, by reason; "" for nothing.
std::string ReadNote(const std::string& path, const ReadReport& report);

}  // namespace allot
