#pragma once
// What Python answers as a request: an allot.Allocation, a dict from job to configuration, or one
// configuration a row.

#include <nanobind/nanobind.h>

#include <vector>

#include "bindings/allocation_request.h"

namespace allot {

// UsageError naming what was given and what is taken.
AllocationRequest RequestOf(const Observation& observation, nanobind::handle answer);

}  // namespace allot
