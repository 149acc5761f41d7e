// All or nothing: each job gets its requested size, in order, on the fastest GPU type with room.
// With backfill a job that does not fit is passed over; without, it holds up all behind it.
// Where placement stops jobs for others (victims), it decides which fit: then all are named up to
// the cluster's size, and beyond that those that run.

#include "sched/stages.h"
#include "stages/fill/capacity.h"

namespace allot {
namespace {

class RequestedSize : public Sizing {
 public:
  RequestedSize(bool backfill, bool within) : backfill_(backfill), within_(within) {}

  // Where a job that does not fit holds up others, or victims are named, order is all.
  bool takes_types() const override { return backfill_ && within_; }
  bool as_requested() const override { return true; }

  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double>,
            std::vector<Grant>* grants) override {
    capacity_.Reset(*o.cluster);
    size_.Reset(*o.cluster);
    if (named_.size() < order.size()) named_.resize(order.size());
    const std::size_t count = has_types() ? NameTyped(o, order)
                              : within_   ? NameWithin(o, order)
                                          : NameVictims(o, order);
    grants->insert(grants->end(), named_.data(), named_.data() + count);
  }

 private:
  // What a row gets while the capacity lasts.
  struct Choice {
    std::int32_t index = -1;  // nothing
    const Configuration* configuration = nullptr;
  };

  // Most run as they asked for, or are to on the fastest type. Looks each request up anew: who asks
  // for the same as the one before it is anybody's guess.
  [[gnu::always_inline]] Choice Choose(const Observation& o, std::int32_t row) const {
    const auto r = static_cast<std::size_t>(row);
    const ConfigurationTable& table = *o.table[r];
    const std::int32_t running = o.running[r];
    const std::int32_t asked = o.requested[r];
    const Configuration& configuration = table[asked];
    const bool suits =
        running == asked || (running < 0 && configuration.gpu_type == table.types().front());
    if (suits && capacity_.Fits(configuration)) return {asked, &configuration};
    const std::int32_t chosen = ChooseType(o, row);
    return chosen < 0 ? Choice{} : Choice{chosen, &table[chosen]};
  }

  // Up to the cluster's size; how many, into named_.
  std::size_t NameWithin(const Observation& o, std::span<const std::int32_t> order) {
    std::size_t count = 0;
    for (const std::int32_t row : order) {
      const Choice choice = Choose(o, row);
      if (choice.index < 0) {
        if (backfill_) continue;
        break;
      }
      named_[count++] = {row, choice.index};
      capacity_.Take(*choice.configuration);
      if (capacity_.Exhausted(choice.configuration->gpu_type) && capacity_.Exhausted()) break;
    }
    return count;
  }

  // The same on the types that they were given.
  std::size_t NameTyped(const Observation& o, std::span<const std::int32_t> order) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < order.size() && !capacity_.Exhausted(); ++i) {
      const std::int32_t chosen = ChooseType(o, order[i], given_types()[i]);
      if (chosen < 0) continue;
      named_[count++] = {order[i], chosen};
      capacity_.Take((*o.table[static_cast<std::size_t>(order[i])])[chosen]);
    }
    return count;
  }

  // The same, and beyond it those that run.
  std::size_t NameVictims(const Observation& o, std::span<const std::int32_t> order) {
    std::size_t count = 0;
    std::size_t held = o.shares.size();  // by rows that are still to come
    bool full = false;                   // with the rows so far
    for (const std::int32_t row : order) {
      if (full && held == 0) break;
      const auto r = static_cast<std::size_t>(row);
      if (full && o.running[r] < 0) continue;
      held -= o.shares_of(row).size();
      const Choice choice = Choose(o, row);
      if (choice.index < 0) {
        if (backfill_) continue;
        break;
      }
      named_[count++] = {row, choice.index};
      if (full) continue;
      full = !size_.Fits(*choice.configuration);
      size_.Take(*choice.configuration);
    }
    return count;
  }

  // A running job stays on its type while that has room; else types from the fastest down. Where a
  // type is given, that only.
  [[gnu::noinline]] std::int32_t ChooseType(const Observation& o, std::int32_t row,
                                            GpuTypeIndex given = kNoType) const {
    const auto r = static_cast<std::size_t>(row);
    const ConfigurationTable& table = *o.table[r];
    const std::int32_t running = o.running[r];
    const std::int32_t asked = o.requested[r];
    const bool as_asked = running >= 0 && (running == asked || table.SameUnits(running, asked));
    const auto may_have = [given](GpuTypeIndex type) { return given == kNoType || type == given; };
    if (as_asked && may_have(table[running].gpu_type) && capacity_.Fits(table[running])) {
      return running;
    }
    for (const GpuTypeIndex type : table.types()) {
      if (!may_have(type)) continue;
      const std::int32_t candidate = table.OnType(asked, type);
      if (candidate >= 0 && capacity_.Fits(table[candidate])) return candidate;
    }
    return -1;
  }

  bool backfill_;
  bool within_;
  TypeCapacity capacity_;     // for Choose
  TypeCapacity size_;         // the cluster less what was named
  std::vector<Grant> named_;  // scratch, never shorter
};

ALLOT_REGISTER(
    SizingInfo, ([] {
      SizingInfo info;
      info.id = "requested";
      info.summary = "each job gets the requested size or nothing, in order";
      info.repeats = true;
      info.rates = RatesRead::kNone;
      info.params = {
          {"backfill", "true", "skip a job that does not fit (false: it blocks all behind it)"},
          {"within-capacity", "true",
           "stop at the cluster's size (false: also name running jobs, which may be stopped)"}};
      info.make = [](const Params& params) {
        return std::make_unique<RequestedSize>(params.Flag("backfill"),
                                               params.Flag("within-capacity"));
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
