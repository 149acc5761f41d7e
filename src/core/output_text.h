#pragma once
// Text that a command writes to the file of --out, or to stdout.

#include <functional>
#include <ostream>
#include <string>

namespace allot {

// To a file, whole or not at all; to stdout for "" and "-", where a failure is a RunError that
// names `what`.
void WriteOutput(const std::string& path, const std::string& what,
                 const std::function<void(std::ostream&)>& write);

}  // namespace allot
