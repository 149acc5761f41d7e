// All or nothing: each job gets what it asked for, in order, on the fastest GPU type with room.
// With backfill a job that does not fit is passed over; without, it holds up all behind it.

#include "sched/capacity.h"
#include "sched/stages.h"

namespace allot {
namespace {

class RequestedSize : public Sizing {
 public:
  RequestedSize(bool backfill, bool within) : backfill_(backfill), within_(within) {}

  bool follows_order() const override { return true; }

  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double>,
            std::vector<Grant>* grants) override {
    capacity_.Reset(*o.cluster);
    for (const std::int32_t row : order) {
      const std::int32_t chosen = Choose(o, row);
      if (chosen >= 0) {
        if (within_) capacity_.Take((*o.table[static_cast<std::size_t>(row)])[chosen]);
        grants->push_back({row, chosen});
        if (within_ && capacity_.Exhausted()) return;
      } else if (!backfill_) {
        return;
      }
    }
  }

 private:
  // A running job stays on its type while that has room; else types from the fastest down.
  std::int32_t Choose(const Observation& o, std::int32_t row) const {
    const auto r = static_cast<std::size_t>(row);
    const ConfigurationTable& table = *o.table[r];
    const UnitCounts& units = table[o.requested[r]].units;
    const std::int32_t running = o.running[r];
    const bool as_asked =
        running >= 0 && (running == o.requested[r] || table[running].units == units);
    if (as_asked && capacity_.Fits(table[running])) return running;
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t candidate = table.Find(units, type);
      if (candidate >= 0 && capacity_.Fits(table[candidate])) return candidate;
    }
    return -1;
  }

  bool backfill_;
  bool within_;
  TypeCapacity capacity_;
};

ALLOT_REGISTER(SizingInfo, ([] {
                 SizingInfo info;
                 info.id = "requested";
                 info.summary = "each job gets the requested size or nothing, in order";
                 info.params = {
                     {"backfill", "true",
                      "pass over a job that does not fit (false: head of line blocks)"},
                     {"within-capacity", "true",
                      "stop at the cluster's size (false: leave that to the placement)"}};
                 info.make = [](const Params& params) {
                   return std::make_unique<RequestedSize>(params.Flag("backfill"),
                                                          params.Flag("within-capacity"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
