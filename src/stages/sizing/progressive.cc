// Max-min fairness of throughput by progressive filling (Bertsekas & Gallager, Data Networks,
// section 6.5), each job's throughput as a multiple of that at an equal share of the cluster
// (Narayanan et al., Gavel, OSDI'20, section 4.1): the job with the least gets the next larger size
// that is faster, ties in the given order, until none fits. A job whose next size does not fit
// drops out, the others continue. Gavel's fractions of time come from the order: `received` takes
// turns.

#include <algorithm>

#include "sched/stages.h"
#include "stages/capacity.h"
#include "stages/equal_share.h"
#include "stages/increments.h"

namespace allot {
namespace {

class Progressive : public Sizing {
 public:
  bool takes_types() const override { return true; }

  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double>,
            std::vector<Grant>* grants) override {
    capacity_.Reset(*o.cluster);
    chosen_.assign(order.size(), -1);
    heap_.clear();
    for (std::size_t i = 0; i < order.size(); ++i) {
      heap_.push_back({0.0, static_cast<std::int32_t>(i)});  // ascending: a heap
    }
    const auto later = [](const Entry& a, const Entry& b) {
      return a.level != b.level ? a.level > b.level : a.position > b.position;
    };
    while (!heap_.empty() && !capacity_.Exhausted()) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const Entry top = heap_.back();
      heap_.pop_back();
      const auto i = static_cast<std::size_t>(top.position);
      const ConfigurationTable& table = *o.table[static_cast<std::size_t>(order[i])];
      if (!Climb(table, i)) continue;
      const double equal = EqualShareRate(o, order[i], static_cast<std::int32_t>(order.size()));
      heap_.push_back({table[chosen_[i]].rate / equal, top.position});
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (chosen_[i] >= 0) grants->push_back({order[i], chosen_[i]});
    }
  }

 private:
  struct Entry {
    double level;  // normalised throughput so far
    std::int32_t position;
  };

  // Takes the next step's resources; false, and no change, when there is none that fits.
  bool Climb(const ConfigurationTable& table, std::size_t place) {
    std::int32_t* const chosen = &chosen_[place];
    if (*chosen < 0) {
      const auto fits = [&](GpuTypeIndex type) {
        return MayHave(place, type) && Take(table, Faster(table, -1, type), chosen);
      };
      return std::any_of(table.types().begin(), table.types().end(), fits);
    }
    const std::int32_t before = *chosen;
    capacity_.Return(table[before]);
    if (Take(table, Faster(table, before, table[before].gpu_type), chosen)) return true;
    capacity_.Take(table[before]);
    return false;
  }

  // The next larger size that is faster; -1: none.
  static std::int32_t Faster(const ConfigurationTable& table, std::int32_t from,
                             GpuTypeIndex type) {
    const double rate = from < 0 ? 0 : table[from].rate;
    std::int32_t next = GrowBundle(table, from, type);
    while (next >= 0 && table[next].rate <= rate) next = GrowBundle(table, next, type);
    return next;
  }

  bool Take(const ConfigurationTable& table, std::int32_t configuration, std::int32_t* chosen) {
    if (configuration < 0 || !capacity_.Fits(table[configuration])) return false;
    capacity_.Take(table[configuration]);
    *chosen = configuration;
    return true;
  }

  TypeCapacity capacity_;
  std::vector<std::int32_t> chosen_;  // by position
  std::vector<Entry> heap_;
};

ALLOT_REGISTER(SizingInfo, ([] {
                 SizingInfo info;
                 info.id = "progressive";
                 info.summary =
                     "progressive filling by throughput over that at an equal share (max-min)";
                 info.make = [](const Params&) { return std::make_unique<Progressive>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
