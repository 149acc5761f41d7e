#pragma once
// The nodes of a daemon, as `allot nodes` shows them: what they have, whether jobs may start there,
// and which jobs accuse a node of failing them, with the odds.

#include <string>

#include "live/status/status.h"

namespace allot {

// Lines that end with a newline.
std::string NodesText(const DaemonStatus& status);

}  // namespace allot
