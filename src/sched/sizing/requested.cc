// All or nothing: each job gets what it asked for, in order, on the fastest GPU type with room.
// With backfill a job that does not fit is passed over; without, it holds up all behind it.
// Where placement stops jobs for others (victims), it decides who fits: then all are named up to
// the cluster's size, and beyond that those that run.

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
    size_.Reset(*o.cluster);
    if (named_.size() < order.size()) named_.resize(order.size());
    Grant* const named = named_.data();
    std::size_t count = 0;
    const std::int32_t* const running_in = o.running.data();
    const std::int32_t* const share_begin = o.share_begin.data();
    const ConfigurationTable* const* const tables = o.table.data();
    const std::int32_t* const requested = o.requested.data();
    Request asked;
    const auto choose = [&](std::int32_t row) {
      const auto r = static_cast<std::size_t>(row);
      // A job is often asked for like the one before it.
      if (tables[r] != asked.table || requested[r] != asked.requested) {
        asked = Request(*tables[r], requested[r]);
      }
      // As most are: runs as asked for, or is to on the fastest type, and there is room.
      const std::int32_t running = running_in[r];
      const bool as_asked = running == asked.requested || (running < 0 && asked.on_fastest);
      return as_asked && capacity_.Fits(*asked.configuration) ? asked.requested
                                                              : ChooseType(o, row);
    };
    std::size_t held = o.shares.size();  // by rows that are still to come
    const auto pass = [&](std::int32_t row) {
      const auto r = static_cast<std::size_t>(row);
      held -= static_cast<std::size_t>(share_begin[r + 1] - share_begin[r]);
    };
    bool full = false;  // with the rows so far
    bool blocked = false;
    std::size_t next = 0;
    for (; next < order.size() && !full && !blocked; ++next) {
      const std::int32_t row = order[next];
      pass(row);
      const std::int32_t chosen = choose(row);
      if (chosen < 0) {
        blocked = !backfill_;
        continue;
      }
      named[count++] = {row, chosen};
      const Configuration& configuration =
          chosen == asked.requested ? *asked.configuration : (*asked.table)[chosen];
      if (within_) {
        capacity_.Take(configuration);
        blocked = capacity_.Exhausted();
      } else {
        full = !size_.Fits(configuration);
        size_.Take(configuration);
      }
    }
    // Beyond the cluster's size, those that run.
    for (; next < order.size() && held > 0 && !blocked; ++next) {
      const std::int32_t row = order[next];
      if (running_in[row] < 0) continue;
      pass(row);
      const std::int32_t chosen = choose(row);
      if (chosen >= 0) {
        named[count++] = {row, chosen};
      } else {
        blocked = !backfill_;
      }
    }
    grants->insert(grants->end(), named, named + count);
  }

 private:
  // What a job asks for.
  struct Request {
    Request() = default;
    Request(const ConfigurationTable& of, std::int32_t index)
        : table(&of),
          requested(index),
          configuration(&of[index]),
          on_fastest(configuration->gpu_type == of.types().front()) {}

    const ConfigurationTable* table = nullptr;
    std::int32_t requested = -1;
    const Configuration* configuration = nullptr;
    bool on_fastest = false;
  };

  // A running job stays on its type while that has room; else types from the fastest down.
  std::int32_t ChooseType(const Observation& o, std::int32_t row) const {
    const auto r = static_cast<std::size_t>(row);
    const ConfigurationTable& table = *o.table[r];
    const std::int32_t running = o.running[r];
    const UnitCounts& units = table[o.requested[r]].units;
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
  TypeCapacity capacity_;     // for Choose
  TypeCapacity size_;         // the cluster less what was named
  std::vector<Grant> named_;  // scratch, never shorter
};

ALLOT_REGISTER(SizingInfo, ([] {
                 SizingInfo info;
                 info.id = "requested";
                 info.summary = "each job gets the requested size or nothing, in order";
                 info.params = {
                     {"backfill", "true",
                      "pass over a job that does not fit (false: head of line blocks)"},
                     {"within-capacity", "true",
                      "stop at the cluster's size (false: then name those that run, as victims)"}};
                 info.make = [](const Params& params) {
                   return std::make_unique<RequestedSize>(params.Flag("backfill"),
                                                          params.Flag("within-capacity"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
