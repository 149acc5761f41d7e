#pragma once
// Writes a workload in the Standard Workload Format of the Parallel Workloads Archive
// (docs/formats/workloads.md), for other simulators and for allot's own reader.

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "workload/workload.h"

namespace allot {

struct SwfMachine {
  int nodes = 0;
  int processors = 0;
};

// Returns what the format could not hold, as sentences for people: it has whole seconds and
// numbers, and no field for models, deadlines and the like. `machine`: stated in the header.
std::vector<std::string> WriteSwf(const Workload& workload,
                                  const std::optional<SwfMachine>& machine, std::ostream& out);

}  // namespace allot
