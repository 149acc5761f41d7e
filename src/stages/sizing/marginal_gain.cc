// Optimus' allocation (Peng et al., EuroSys'18, section 4.1): each job first gets its smallest
// configuration, then the units with the largest reduction of estimated completion time per cost
// are granted, while it is positive. The step is one unit, but where a measured table dips: there
// it goes to the next size that is worth its cost. What a job can no longer take whole is offered
// to it, and to the others, in the largest parts that fit, so that nothing useful stays free.
// O(sizes of a table) a step.

#include <algorithm>
#include <limits>

#include "forecast/remaining.h"
#include "sched/stages.h"
#include "stages/capacity.h"
#include "stages/increments.h"

namespace allot {
namespace {

class MarginalGain : public Sizing {
 public:
  bool takes_types() const override { return true; }

  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double>,
            std::vector<Grant>* grants) override {
    capacity_.Reset(*o.cluster);
    chosen_.assign(order.size(), -1);
    heap_.clear();
    for (std::size_t i = 0; i < order.size(); ++i) First(o, order[i], static_cast<std::int32_t>(i));
    const auto worse = [](const Entry& a, const Entry& b) {
      return a.gain != b.gain ? a.gain < b.gain : a.position > b.position;
    };
    std::make_heap(heap_.begin(), heap_.end(), worse);
    while (!heap_.empty() && !capacity_.Exhausted()) {
      std::pop_heap(heap_.begin(), heap_.end(), worse);
      const Entry best = heap_.back();
      heap_.pop_back();
      const auto i = static_cast<std::size_t>(best.position);
      const ConfigurationTable& table = *o.table[static_cast<std::size_t>(order[i])];
      // What was the best when it was offered may not fit any more: then the best of what does.
      if (FitsInstead(table, chosen_[i], best.next)) {
        capacity_.Return(table[chosen_[i]]);
        capacity_.Take(table[best.next]);
        chosen_[i] = best.next;
      }
      if (Offer(o, order[i], best.position)) std::push_heap(heap_.begin(), heap_.end(), worse);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (chosen_[i] >= 0) grants->push_back({order[i], chosen_[i]});
    }
  }

 private:
  struct Entry {
    double gain;
    std::int32_t position;
    std::int32_t next;
  };

  void First(const Observation& o, std::int32_t row, std::int32_t position) {
    const ConfigurationTable& table = *o.table[static_cast<std::size_t>(row)];
    for (const GpuTypeIndex type : table.types()) {
      if (!MayHave(static_cast<std::size_t>(position), type)) continue;
      const std::int32_t first = GrowBundle(table, -1, type);
      if (first < 0 || !capacity_.Fits(table[first])) continue;
      capacity_.Take(table[first]);
      chosen_[static_cast<std::size_t>(position)] = first;
      Offer(o, row, position);
      return;
    }
  }

  bool FitsInstead(const ConfigurationTable& table, std::int32_t from, std::int32_t to) const {
    const Configuration& larger = table[to];
    return (larger.demand - table[from].demand).FitsIn(capacity_.free(larger.gpu_type));
  }

  // Appends the step of a job that saves most time per cost, of those that fit now, to the heap's
  // array; false when none helps. Of equal ones the smallest.
  bool Offer(const Observation& o, std::int32_t row, std::int32_t position) {
    const ConfigurationTable& table = *o.table[static_cast<std::size_t>(row)];
    const std::int32_t from = chosen_[static_cast<std::size_t>(position)];
    const double remaining = ReckonedRemaining(o, row);
    Entry entry{0.0, position, -1};
    const auto consider = [&](std::int32_t next) {
      if (!(table[next].rate > table[from].rate) || !FitsInstead(table, from, next)) return;
      const double saved = remaining / table[from].rate - remaining / table[next].rate;
      const double gain = saved / (table[next].cost - table[from].cost);
      if (gain > entry.gain) {
        entry.gain = gain;
        entry.next = next;
      }
    };
    for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
      std::int32_t next = Grow(table, from, kind, table[from].gpu_type);
      const bool counts = table.kinds().size() == 1;  // all larger ones, for dips
      for (; next >= 0; next = counts ? Grow(table, next, kind, table[from].gpu_type) : -1) {
        if (table.Allocatable(next)) consider(next);
      }
    }
    if (entry.next < 0) return false;
    heap_.push_back(entry);
    return true;
  }

  TypeCapacity capacity_;
  std::vector<std::int32_t> chosen_;
  std::vector<Entry> heap_;
};

ALLOT_REGISTER(
    SizingInfo, ([] {
      SizingInfo info;
      info.id = "marginal-gain";
      info.summary =
          "a first configuration for each, then the largest time saved per cost (Optimus)";
      info.needs_lengths = true;
      info.time_driven = true;
      info.make = [](const Params&) { return std::make_unique<MarginalGain>(); };
      return info;
    }()));

}  // namespace
}  // namespace allot
