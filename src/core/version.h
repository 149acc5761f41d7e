#pragma once
// Which allot this is: printed by --version and written into every log, checkpoint and report.

#include <string>

namespace allot {

// "0.2.0" and, when built from a checkout, "+<commit>".
std::string Version();

}  // namespace allot
