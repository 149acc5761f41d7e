#pragma once
// The options of a world on a command: the same names and texts everywhere.

#include "core/command_line.h"
#include "experiment/world_spec.h"

namespace allot {

// --workload, --cluster, --load, ...; `spec` outlives `line`.
void DeclareWorld(CommandLine& line, WorldSpec& spec);

}  // namespace allot
