#pragma once

#include <string>

namespace allot {

// "0.1.0" and, when built from a checkout, "+<commit>".
std::string Version();

}  // namespace allot
