// Optimus' allocation (Peng et al., EuroSys'18, section 4.1): each job first gets its smallest
// configuration, then the units with the largest reduction of estimated completion time per cost
// are granted, while it is positive. The step is one unit, but where a measured table dips: there
// it goes to the next size that is worth its cost. What a job can no longer take whole is offered
// to it, and to the others, in the largest parts that fit, so that nothing useful stays free.
// O(sizes of a table) a step.

#include "length_model/remaining.h"
#include "stages/fill/increments.h"
#include "stages/fill/step_sizing.h"

namespace allot {
namespace {

class MarginalGain : public StepSizing {
 private:
  std::optional<double> Begin(const Observation& o, std::span<const std::int32_t> order,
                              std::size_t place) override {
    offered_.resize(order.size());
    const ConfigurationTable& table = *o.table[static_cast<std::size_t>(order[place])];
    for (const GpuTypeIndex type : table.types()) {
      if (!MayHave(place, type)) continue;
      const std::int32_t first = GrowBundle(table, -1, type);
      if (first < 0 || !capacity_.Fits(table[first])) continue;
      capacity_.Take(table[first]);
      chosen_[place] = first;
      return Offer(o, order[place], place);
    }
    return std::nullopt;
  }

  std::optional<double> Step(const Observation& o, std::span<const std::int32_t> order,
                             std::size_t place) override {
    const ConfigurationTable& table = *o.table[static_cast<std::size_t>(order[place])];
    // What was the best when it was offered may not fit any more: then the best of what does.
    if (FitsInstead(table, chosen_[place], offered_[place])) {
      capacity_.Return(table[chosen_[place]]);
      capacity_.Take(table[offered_[place]]);
      chosen_[place] = offered_[place];
    }
    return Offer(o, order[place], place);
  }

  bool FitsInstead(const ConfigurationTable& table, std::int32_t from, std::int32_t to) const {
    const Configuration& larger = table[to];
    return (larger.demand - table[from].demand).FitsIn(capacity_.free(larger.gpu_type));
  }

  // Offers the step of a job that saves most time per cost, of those that fit now, and returns what
  // it saves, negated, as the job's key; nullopt when none helps. Of equal ones the smallest.
  std::optional<double> Offer(const Observation& o, std::int32_t row, std::size_t place) {
    const ConfigurationTable& table = *o.table[static_cast<std::size_t>(row)];
    const std::int32_t from = chosen_[place];
    const double remaining = AssumedRemaining(o, row);
    double best = 0;
    const auto consider = [&](std::int32_t next) {
      if (!(table[next].rate > table[from].rate) || !FitsInstead(table, from, next)) return;
      const double saved = remaining / table[from].rate - remaining / table[next].rate;
      const double gain = saved / (table[next].cost - table[from].cost);
      if (gain > best) {
        best = gain;
        offered_[place] = next;
      }
    };
    for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
      std::int32_t next = Grow(table, from, kind, table[from].gpu_type);
      const bool counts = table.kinds().size() == 1;  // all larger ones, for dips
      for (; next >= 0; next = counts ? Grow(table, next, kind, table[from].gpu_type) : -1) {
        if (table.Allocatable(next)) consider(next);
      }
    }
    return best > 0 ? std::optional(-best) : std::nullopt;
  }

  std::vector<std::int32_t> offered_;  // the next configuration, by place in the order
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
