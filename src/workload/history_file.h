#pragma once
// Histories and quotas from files, for whoever makes policies from text: commands, the daemon, the
// C interface.

#include <memory>
#include <string>

#include "core/params.h"
#include "workload/history.h"

namespace allot {

// The history "trace.csv@2017-11-13": the trace, and what was submitted before the date (without @:
// all). Each is read once in the life of the program. Thread-safe. Errors name the file and, where
// a line is at fault, the line.
std::shared_ptr<const History> ReadHistory(const std::string& history);

// Loads parameters of the kinds "history" (ReadHistory), "quotas" (ReadQuotas) and "text", a whole
// file as a std::string (ReadTextFile).
const ParamLoader& FileLoader();

}  // namespace allot
