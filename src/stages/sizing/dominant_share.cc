// Dominant resource fairness by progressive filling (Ghodsi et al., NSDI'11, algorithm 1): the job
// with the smallest dominant share gets one more unit, until nothing fits. Work-conserving: a job
// whose next unit does not fit drops out, the others continue.

#include <algorithm>
#include <queue>

#include "sched/stages.h"
#include "stages/capacity.h"
#include "stages/increments.h"

namespace allot {
namespace {

double DominantShare(const Resources& demand, const Resources& total) {
  const double gpus = total.gpus > 0 ? static_cast<double>(demand.gpus) / total.gpus : 0;
  const double cpus = total.cpus > 0 ? static_cast<double>(demand.cpus) / total.cpus : 0;
  return std::max(gpus, cpus);
}

class DominantShareSizing : public Sizing {
 public:
  bool takes_types() const override { return true; }

  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double>,
            std::vector<Grant>* grants) override {
    capacity_.Reset(*o.cluster);
    chosen_.assign(order.size(), -1);
    heap_.clear();
    for (std::size_t i = 0; i < order.size(); ++i)
      heap_.push_back({0.0, static_cast<std::int32_t>(i)});
    // Equal shares (all 0 at first) are served in the given order: smaller position first.
    const auto later = [](const Entry& a, const Entry& b) {
      return a.share != b.share ? a.share > b.share : a.position > b.position;
    };
    std::make_heap(heap_.begin(), heap_.end(), later);
    while (!heap_.empty() && !capacity_.Exhausted()) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const Entry top = heap_.back();
      heap_.pop_back();
      const auto i = static_cast<std::size_t>(top.position);
      const ConfigurationTable& table = *o.table[static_cast<std::size_t>(order[i])];
      const std::int32_t next = Next(o, order, i);
      if (next < 0) continue;
      chosen_[i] = next;
      heap_.push_back({DominantShare(table[next].demand, o.cluster->total()), top.position});
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (chosen_[i] >= 0) grants->push_back({order[i], chosen_[i]});
    }
  }

 private:
  struct Entry {
    double share;
    std::int32_t position;
  };

  // Takes the next unit's resources, or returns -1 when none fits.
  std::int32_t Next(const Observation& o, std::span<const std::int32_t> order, std::size_t i) {
    const ConfigurationTable& table = *o.table[static_cast<std::size_t>(order[i])];
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

  TypeCapacity capacity_;
  std::vector<std::int32_t> chosen_;
  std::vector<Entry> heap_;
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
