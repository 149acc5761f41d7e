#pragma once
// Declares the options of a world on a command, with the same names and texts everywhere.

#include "core/command_line.h"
#include "experiment/world_spec.h"

namespace allot {

// The meaning of a word without an option; kWorkload: `allot whatif FILE`.
enum class BareWord { kNone, kWorkload };

// Declares --workload, --cluster, --load and so on. `spec` must outlive `line`.
void DeclareWorld(CommandLine& line, WorldSpec& spec, BareWord bare = BareWord::kNone);

}  // namespace allot
