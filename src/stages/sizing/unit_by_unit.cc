// One unit at a time, each placed on the least loaded node before the next is granted: the
// allocation loops of DL2's simulator (docs/fidelity.md). A unit that does not fit there ends the
// round for all jobs (misfit=stop, as published) or for its job only (misfit=skip).
//   pick=order: bundles for the first job of the order up to its limit, then for the next;
//   pick=share: a bundle for the job of least dominant share (DRF);
//   pick=gain: a worker or a server where it saves most estimated time (Optimus, Peng et al.,
//   EuroSys'18, section 4.1); a job that has neither comes first, one at its limit drops out.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "stages/fill/increments.h"
#include "stages/fill/unit_placer.h"

namespace allot {
namespace {

enum class Pick { kOrder, kShare, kGain };

class UnitByUnit : public Sizing {
 public:
  UnitByUnit(Pick pick, bool skip) : pick_(pick), skip_(skip) {}

  bool reads_lengths() const override { return pick_ == Pick::kGain; }
  bool places() const override { return true; }
  std::span<const NodeShare> PlaceOf(std::size_t i) const override { return placer_.PlaceOf(i); }

  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double>,
            std::vector<Grant>* grants) override {
    placer_.Reset(*o.cluster, order.size());
    types_.clear();
    for (const std::int32_t row : order) types_.push_back(Table(o, row).types().front());
    heap_.clear();
    if (pick_ == Pick::kOrder) FillInOrder(o, order);
    if (pick_ == Pick::kShare) FillByShare(o, order);
    if (pick_ == Pick::kGain) FillByGain(o, order);
    placer_.Grants(o, order, types_, grants);
  }

 private:
  struct Entry {
    double key;  // least first
    std::int32_t position;
    int kind;
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.key != b.key ? a.key > b.key : a.position > b.position;
    }
  };

  static const ConfigurationTable& Table(const Observation& o, std::int32_t row) {
    return *o.table[static_cast<std::size_t>(row)];
  }

  // Units of `kind` to the job's next configuration, 0 when it is at its limit. With several kinds
  // there is one for every count; a job of GPUs may start at more than one, and has gaps.
  int StepOf(const ConfigurationTable& table, std::int32_t position, int kind) const {
    UnitCounts units = placer_.units(position);
    const UnitCounts& limits = table.limits();
    if (table.kinds().size() > 1) {
      static_assert(kMaxUnitKinds == 2);
      const auto below = [&](std::size_t k) { return units.of(k) < limits.of(k); };
      if (kind == kBundle) return below(0) && below(1) ? 1 : 0;
      return below(static_cast<std::size_t>(kind)) ? 1 : 0;
    }
    for (int step = 1;; ++step) {
      if (units.of(0) >= limits.of(0)) return 0;
      units.Add(0);
      if (table.Find(units, types_[static_cast<std::size_t>(position)]) >= 0) return step;
    }
  }

  // The units of a step; false when one does not fit, and then no other job gets the rest.
  bool Place(const ConfigurationTable& table, std::int32_t position, int kind, int step) {
    for (int left = step; left > 0; --left) {
      if (!placer_.PlaceOnLeastLoaded(position, table.kinds(), kind,
                                      types_[static_cast<std::size_t>(position)])) {
        return false;
      }
    }
    return true;
  }

  void FillInOrder(const Observation& o, std::span<const std::int32_t> order) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto position = static_cast<std::int32_t>(i);
      const ConfigurationTable& table = Table(o, order[i]);
      for (int step; (step = StepOf(table, position, kBundle)) > 0;) {
        if (Place(table, position, kBundle, step)) continue;
        if (!skip_) return;
        break;
      }
    }
  }

  // The heap's top is dealt with in place: popped, or changed and sunk.
  void Pop() {
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    heap_.pop_back();
  }
  void ReplaceTop(const Entry& entry) {
    const std::size_t size = heap_.size();
    const Later later;
    std::size_t hole = 0;
    for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
      if (child + 1 < size && later(heap_[child], heap_[child + 1])) ++child;
      if (!later(entry, heap_[child])) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = entry;
  }

  void FillByShare(const Observation& o, std::span<const std::int32_t> order) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      heap_.push_back({0, static_cast<std::int32_t>(i), kBundle});
    }
    while (!heap_.empty()) {
      const Entry top = heap_.front();
      const ConfigurationTable& table = Table(o, order[static_cast<std::size_t>(top.position)]);
      if (!Place(table, top.position, kBundle, StepOf(table, top.position, kBundle))) {
        if (!skip_) return;
        Pop();
        continue;
      }
      if (StepOf(table, top.position, kBundle) == 0) {
        Pop();
      } else {
        ReplaceTop({DominantShare(o, table, placer_.units(top.position)), top.position, kBundle});
      }
    }
  }

  static double DominantShare(const Observation& o, const ConfigurationTable& table,
                              const UnitCounts& units) {
    const Resources demand = DemandOf(table.kinds(), units);
    const Resources& total = o.cluster->total();
    return std::max(static_cast<double>(demand.gpus) / std::max(total.gpus, 1),
                    static_cast<double>(demand.cpus) / std::max(total.cpus, 1));
  }

  void FillByGain(const Observation& o, std::span<const std::int32_t> order) {
    growths_.assign(order.size(), Growth{});
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto r = static_cast<std::size_t>(order[i]);
      growths_[i].left = o.estimated_work[r] - o.done_work[r];
      heap_.push_back(BestUnit(o, order[i], static_cast<std::int32_t>(i)));
    }
    std::make_heap(heap_.begin(), heap_.end(), Later());
    while (!heap_.empty()) {
      const Entry top = heap_.front();
      if (!(top.key < 0)) return;
      const std::int32_t row = order[static_cast<std::size_t>(top.position)];
      const ConfigurationTable& table = Table(o, row);
      const int step = StepOf(table, top.position, top.kind);
      if (step == 0) {
        Pop();
        continue;
      }
      if (!Place(table, top.position, top.kind, step)) {
        if (!skip_) return;
        Pop();
        continue;
      }
      Growth& growth = growths_[static_cast<std::size_t>(top.position)];
      growth.now = growth.after[static_cast<std::size_t>(top.kind)];
      ReplaceTop(BestUnit(o, row, top.position));
    }
  }

  // What is known of a job's time left, in intervals: as it stands, and with one more of each kind.
  struct Growth {
    double left = 0;
    double now = kUnknown;
    std::array<double, kMaxUnitKinds> after{kUnknown, kUnknown};
  };

  // The unit that saves most time, as minus the intervals saved.
  Entry BestUnit(const Observation& o, std::int32_t row, std::int32_t position) {
    constexpr double kFirst = -std::numeric_limits<double>::infinity();
    const ConfigurationTable& table = Table(o, row);
    UnitCounts units = placer_.units(position);
    const auto kinds = static_cast<int>(table.kinds().size());
    Growth& growth = growths_[static_cast<std::size_t>(position)];
    for (int k = 0; k < kinds; ++k) {
      if (units.of(static_cast<std::size_t>(k)) > 0) continue;
      growth.after = {kUnknown, kUnknown};
      return {kFirst, position, k};
    }
    const GpuTypeIndex type = types_[static_cast<std::size_t>(position)];
    const auto intervals = [&] { return growth.left / (table.RateOf(units, type) * o.interval); };
    if (std::isnan(growth.now)) growth.now = intervals();
    Entry best{std::numeric_limits<double>::infinity(), position, 0};
    for (int k = 0; k < kinds; ++k) {
      // With several kinds the table goes one past the limits, for this look.
      const int step = kinds > 1 ? 1 : StepOf(table, position, k);
      if (step == 0) continue;
      units.Add(static_cast<std::size_t>(k), step);
      growth.after[static_cast<std::size_t>(k)] = intervals();
      units.Add(static_cast<std::size_t>(k), -step);
      double saved = growth.now - growth.after[static_cast<std::size_t>(k)];
      if (step > 1) saved /= step;
      if (-saved <= best.key) best = {-saved, position, k};
    }
    return best;
  }

  Pick pick_;
  bool skip_;
  UnitPlacer placer_;
  std::vector<GpuTypeIndex> types_;  // by position
  std::vector<Entry> heap_;
  std::vector<Growth> growths_;  // by position
};

ALLOT_REGISTER(
    SizingInfo, ([] {
      SizingInfo info;
      info.id = "unit-by-unit";
      info.summary = "as in DL2's program: one unit at a time, placed on the least loaded node";
      info.time_driven = true;
      info.needs_lengths = true;
      info.params = {
          {"pick", "order", "which job gets the next unit: order, share (DRF) or gain (Optimus)"},
          {"misfit", "stop",
           "if a unit does not fit: stop ends the round, skip ends only its job"}};
      info.make = [](const Params& params) -> std::unique_ptr<Sizing> {
        const std::string& pick = params.Text("pick");
        const std::string& misfit = params.Text("misfit");
        if (misfit != "stop" && misfit != "skip") {
          throw UsageError("sizing 'unit-by-unit': 'misfit' must be stop or skip, got '{}'",
                           misfit);
        }
        const bool skip = misfit == "skip";
        if (pick == "order") return std::make_unique<UnitByUnit>(Pick::kOrder, skip);
        if (pick == "share") return std::make_unique<UnitByUnit>(Pick::kShare, skip);
        if (pick == "gain") return std::make_unique<UnitByUnit>(Pick::kGain, skip);
        throw UsageError("sizing 'unit-by-unit': 'pick' must be order, share or gain, got '{}'",
                         pick);
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
