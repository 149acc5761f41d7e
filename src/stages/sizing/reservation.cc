// EASY backfilling (Lifka, JSSPP 1995; Mu'alem & Feitelson, IEEE TPDS 2001, section 2): jobs start
// in order; the first that does not fit gets a reservation at the shadow time, when by the
// estimates enough of those that run will have ended. A job behind it starts now only when it
// cannot delay that: it ends before the shadow time, or it needs no more than what the reservation
// leaves over. Running jobs are never stopped.
//
// Where a length is unknown, a running job is assumed to run as long again as it has, a waiting
// one for ever. On a cluster of several GPU types the reservation is on the type that is free
// first.

#include <algorithm>
#include <cmath>

#include "length_model/remaining.h"
#include "sched/stages.h"
#include "stages/fill/capacity.h"

namespace allot {
namespace {

class Reservation : public Sizing {
 public:
  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double>,
            std::vector<Grant>* grants) override {
    capacity_.Reset(*o.cluster);
    ends_.clear();
    misfits_.clear();
    for (const std::int32_t row : order) {
      const std::int32_t running = o.running[static_cast<std::size_t>(row)];
      if (running >= 0) Start(o, row, running, AssumedRemaining(o, row), grants);
    }
    Reserved reserved;
    for (const std::int32_t row : order) {
      const auto r = static_cast<std::size_t>(row);
      if (o.running[r] >= 0) continue;
      if (reserved.at != kNone && IsMisfit(o, row)) continue;
      const std::int32_t chosen = Choose(o, row, &reserved);
      if (chosen >= 0) {
        const double work = o.estimated_work[r];
        Start(o, row, chosen, std::isnan(work) ? kNever : Left(o, row), grants);
      } else if (reserved.at == kNone) {
        reserved = Reserve(o, row);
      }
      if (capacity_.Exhausted()) return;
    }
  }

 private:
  static constexpr Seconds kNone = -1;  // no job has had to wait yet
  struct End {
    Seconds at;
    JobIndex job;
    const Configuration* configuration;
  };
  struct Reserved {
    Seconds at = kNone;
    GpuTypeIndex type = 0;
    Resources left_over;  // of that type, at that time
  };

  static double Left(const Observation& o, std::int32_t row) {
    const auto r = static_cast<std::size_t>(row);
    return EstimatedRemaining(o.estimated_work[r], o.done_work[r]);
  }

  void Start(const Observation& o, std::int32_t row, std::int32_t chosen, double work,
             std::vector<Grant>* grants) {
    const auto r = static_cast<std::size_t>(row);
    const Configuration& configuration = (*o.table[r])[chosen];
    capacity_.Take(configuration);
    ends_.push_back({o.now + work / configuration.rate, o.job[r], &configuration});
    grants->push_back({row, chosen});
  }

  // The first type, from the fastest, on which the job may start now.
  std::int32_t Choose(const Observation& o, std::int32_t row, Reserved* reserved) {
    const auto r = static_cast<std::size_t>(row);
    const ConfigurationTable& table = *o.table[r];
    bool fits = false;
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t candidate = table.OnType(o.requested[r], type);
      if (candidate < 0 || !capacity_.Fits(table[candidate])) continue;
      fits = true;
      if (reserved->at == kNone || reserved->type != type) return candidate;
      const Resources& demand = table[candidate].demand;
      const double work = std::isnan(o.estimated_work[r]) ? kNever : Left(o, row);
      if (o.now + work / table[candidate].rate <= reserved->at) return candidate;
      if (!demand.FitsIn(reserved->left_over)) continue;
      reserved->left_over -= demand;
      return candidate;
    }
    if (!fits && misfits_.size() < kMostMisfits) misfits_.push_back({&table, o.requested[r]});
    return -1;
  }

  // True if an equal request did not fit before, because free GPUs only become fewer. This makes a
  // long queue cheap, where reading each table would be expensive.
  bool IsMisfit(const Observation& o, std::int32_t row) const {
    const auto r = static_cast<std::size_t>(row);
    return std::any_of(misfits_.begin(), misfits_.end(), [&](const Misfit& misfit) {
      return misfit.table == o.table[r] && misfit.requested == o.requested[r];
    });
  }

  Reserved Reserve(const Observation& o, std::int32_t row) {
    const auto r = static_cast<std::size_t>(row);
    const ConfigurationTable& table = *o.table[r];
    std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
      return a.at != b.at ? a.at < b.at : a.job < b.job;
    });
    Reserved best;
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t wanted = table.OnType(o.requested[r], type);
      if (wanted < 0) continue;
      const Resources& demand = table[wanted].demand;
      Resources free = capacity_.free(type);
      Seconds shadow = kNone;
      for (const End& end : ends_) {
        if (shadow != kNone && end.at > shadow)
          break;  // all that end at one time are free together
        if (end.configuration->gpu_type != type) continue;
        free += end.configuration->demand;
        if (shadow == kNone && demand.FitsIn(free)) shadow = end.at;
      }
      if (shadow == kNone) continue;
      if (best.at == kNone || shadow < best.at) best = {shadow, type, free - demand};
    }
    return best;
  }

  struct Misfit {
    const ConfigurationTable* table;
    std::int32_t requested;
  };
  static constexpr std::size_t kMostMisfits = 16;

  TypeCapacity capacity_;
  std::vector<End> ends_;
  std::vector<Misfit> misfits_;  // requests that fit on no type any more
};

ALLOT_REGISTER(SizingInfo, ([] {
                 SizingInfo info;
                 info.id = "reservation";
                 info.summary =
                     "the requested size in order, one reservation by estimated ends (EASY)";
                 info.needs_lengths = true;
                 info.time_driven = true;  // an estimate that proves too short moves reservations
                 info.make = [](const Params&) { return std::make_unique<Reservation>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
