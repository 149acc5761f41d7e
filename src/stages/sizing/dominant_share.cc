// Dominant resource fairness by progressive filling (Ghodsi et al., NSDI'11, algorithm 1): the job
// with the smallest dominant share gets one more unit, until nothing fits. Work-conserving: a job
// whose next unit does not fit drops out, the others continue.

#include <algorithm>

#include "stages/fill/increments.h"
#include "stages/fill/step_sizing.h"

namespace allot {
namespace {

double DominantShare(const Resources& demand, const Resources& total) {
  const double gpus = total.gpus > 0 ? static_cast<double>(demand.gpus) / total.gpus : 0;
  const double cpus = total.cpus > 0 ? static_cast<double>(demand.cpus) / total.cpus : 0;
  return std::max(gpus, cpus);
}

class DominantShareSizing : public StepSizing {
 private:
  std::optional<double> Step(const Observation& o, std::span<const std::int32_t> order,
                             std::size_t place) override {
    const ConfigurationTable& table = *o.table[static_cast<std::size_t>(order[place])];
    const std::int32_t next = Next(table, place);
    if (next < 0) return std::nullopt;
    chosen_[place] = next;
    return DominantShare(table[next].demand, o.cluster->total());
  }

  // Takes the next unit's resources, or returns -1 when none fits.
  std::int32_t Next(const ConfigurationTable& table, std::size_t i) {
    const std::int32_t from = chosen_[i];
    if (from >= 0) {
      const std::int32_t next = GrowBundle(table, from, table[from].gpu_type);
      if (next < 0) return -1;
      capacity_.Return(table[from]);
      if (capacity_.Fits(table[next])) {
        capacity_.Take(table[next]);
        return next;
      }
      capacity_.Take(table[from]);
      return -1;
    }
    for (const GpuTypeIndex type : table.types()) {
      if (!MayHave(i, type)) continue;
      const std::int32_t next = GrowBundle(table, -1, type);
      if (next >= 0 && capacity_.Fits(table[next])) {
        capacity_.Take(table[next]);
        return next;
      }
    }
    return -1;
  }
};

ALLOT_REGISTER(SizingInfo, ([] {
                 SizingInfo info;
                 info.id = "dominant-share";
                 info.summary = "progressive filling by dominant share (DRF)";
                 info.make = [](const Params&) { return std::make_unique<DominantShareSizing>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
