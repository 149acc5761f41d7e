// Every job gets an equal part of every GPU type, as if the cluster were divided between them
// (Gavel's "isolated" baseline): of m jobs one that asks for s GPUs runs on a type of C GPUs for
// C / m / s of the time, and for less where that would be more than all its time. Its parts of
// types on which it cannot run are lost to it; with `lost` they count as its time too, as at Gavel.

#include <algorithm>

#include "core/index.h"
#include "stages/rounds/sharing.h"

namespace allot {
namespace {

class Isolated : public Sharing {
 public:
  explicit Isolated(bool lost) : lost_(lost) {}

  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    for (const std::int32_t row : rows) {
      const ConfigurationTable& table = *o.table[At(row)];
      const std::size_t first = shares->size();
      double sum = 0;
      for (GpuTypeIndex type = 0; At(type) < o.cluster->types().size(); ++type) {
        const std::int32_t c = table.OnType(o.requested[At(row)], type);
        const bool runs = c >= 0 && table[c].rate > 0;
        if (!runs && !lost_) continue;
        const double gpus = std::max(1, table[o.requested[At(row)]].demand.gpus);
        const double part = o.cluster->total_of(type).gpus / static_cast<double>(rows.size());
        if (runs) shares->push_back({row, c, part / gpus});
        sum += part / gpus;
      }
      for (std::size_t i = first; i < shares->size(); ++i) (*shares)[i].share /= std::max(1.0, sum);
    }
  }

 private:
  bool lost_;
};

ALLOT_REGISTER(
    SharingInfo, ([] {
      SharingInfo info;
      info.id = "isolated";
      info.summary = "an equal part of every GPU type for every job";
      info.params = {{"lost", "false", "types on which a job cannot run use up its time"}};
      info.make = [](const Params& params) {
        return std::make_unique<Isolated>(params.Flag("lost"));
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
