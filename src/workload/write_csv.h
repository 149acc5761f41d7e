#pragma once
// Writes a workload as the allot CSV (docs/formats/workloads.md), which reads back as equal jobs.
// The workload's own name and calendar origin have no place in that format.

#include <ostream>
#include <string>

#include "workload/workload.h"

namespace allot {

// Optional columns stand only when some job needs them. Numbers are the shortest that read back
// exactly.
void WriteAllotCsv(const Workload& workload, std::ostream& out);

// To a file, whole or not at all; to stdout for "" and "-".
void WriteAllotCsv(const Workload& workload, const std::string& path);

}  // namespace allot
