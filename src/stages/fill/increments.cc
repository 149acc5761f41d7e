#include "stages/fill/increments.h"

#include <algorithm>

namespace allot {
namespace {

std::int32_t IfAllocatable(const ConfigurationTable& table, std::int32_t configuration) {
  return configuration >= 0 && table.Allocatable(configuration) ? configuration : -1;
}

}  // namespace

std::int32_t Grow(const ConfigurationTable& table, std::int32_t from, int kind, GpuTypeIndex type) {
  const auto& all = table.configurations();
  if (table.kinds().size() == 1) {
    // Sorted by (type, cost, rate): the next one of this type is the next larger count.
    if (from < 0) {
      const auto first = std::lower_bound(
          all.begin(), all.end(), type,
          [](const Configuration& c, GpuTypeIndex wanted) { return c.gpu_type < wanted; });
      if (first == all.end() || first->gpu_type != type) return -1;
      return IfAllocatable(table, table.Find(first->units, type));
    }
    std::int32_t next = from + 1;
    // Those of equal units that differ in span or partner are no step.
    while (next < table.size() && table.SameUnits(next, from)) ++next;
    if (next >= table.size() || table[next].gpu_type != table[from].gpu_type) return -1;
    return IfAllocatable(table, table.OnType(next, table[next].gpu_type));
  }
  UnitCounts units = from < 0 ? UnitCounts{} : table[from].units;
  for (std::size_t k = 0; k < table.kinds().size(); ++k) {
    if (kind == kBundle || static_cast<int>(k) == kind) units.Add(k);
  }
  return IfAllocatable(table, table.Find(units, from < 0 ? type : table[from].gpu_type));
}

}  // namespace allot
