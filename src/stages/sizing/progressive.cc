// Max-min fairness of throughput by progressive filling (Bertsekas & Gallager, Data Networks,
// section 6.5), each job's throughput as a multiple of that at an equal share of the cluster
// (Narayanan et al., Gavel, OSDI'20, section 4.1): the job with the least gets the next larger size
// that is faster, ties in the given order, until none fits. A job whose next size does not fit
// drops out, the others continue. Gavel's fractions of time come from the order: `received` takes
// turns.

#include <algorithm>

#include "stages/fill/increments.h"
#include "stages/fill/step_sizing.h"
#include "stages/rounds/equal_share.h"

namespace allot {
namespace {

class Progressive : public StepSizing {
 private:
  // The key is the job's normalised throughput so far.
  std::optional<double> Step(const Observation& o, std::span<const std::int32_t> order,
                             std::size_t place) override {
    const ConfigurationTable& table = *o.table[static_cast<std::size_t>(order[place])];
    if (!Climb(table, place)) return std::nullopt;
    return table[chosen_[place]].rate /
           EqualShareRate(o, order[place], static_cast<std::int32_t>(order.size()));
  }

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
