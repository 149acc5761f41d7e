#pragma once
// Parts of a cluster as text: NODESxGPUS[xCPUS[xMEMORY]][:TYPE[@MEMORY]], joined by commas.

#include <string>
#include <string_view>

#include "cluster/cluster_spec.h"

namespace allot {

// Adds the parts of one line. UsageError when malformed; with `place` ("file:line") DataError.
void AddClusterParts(std::string_view line, const std::string& place, ClusterSpec* spec);

}  // namespace allot
