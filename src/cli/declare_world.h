#pragma once
// The options of a world on a command: the same names and texts everywhere.

#include "core/command_line.h"
#include "experiment/world_spec.h"

namespace allot {

// Whether a word without an option is the workload: `allot whatif FILE`.
enum class BareWord { kNone, kWorkload };

// --workload, --cluster, --load, ...; `spec` outlives `line`.
void DeclareWorld(CommandLine& line, WorldSpec& spec, BareWord bare = BareWord::kNone);

}  // namespace allot
