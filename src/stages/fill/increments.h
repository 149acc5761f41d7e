#pragma once
// Steps between neighbouring configurations: what "one more worker" means for a job. Used by the
// progressive sizings (DRF, Optimus) and by the sequence action of the environment.

#include "perf/configuration.h"

namespace allot {

inline constexpr int kBundle = kMaxUnitKinds;  // "one more of every kind"

// The configuration reached from `from` (-1: nothing; then on `type`) by one more unit of `kind`,
// or -1. Where a table has one kind and gaps (GPU counts 8, 12, 16), the next larger count; of
// several spans the fastest. O(log n).
std::int32_t Grow(const ConfigurationTable& table, std::int32_t from, int kind, GpuTypeIndex type);

// One more of everything the job is made of.
inline std::int32_t GrowBundle(const ConfigurationTable& table, std::int32_t from,
                               GpuTypeIndex type) {
  return Grow(table, from, table.kinds().size() == 1 ? 0 : kBundle, type);
}

}  // namespace allot
