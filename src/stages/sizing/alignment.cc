// Tetris (Grandl et al., SIGCOMM'14, section 3) as DL2's simulator has it (docs/fidelity.md): nodes
// in turn, on each the bundle with the best score of alignment and remaining work, until the best
// one does not fit (misfit=stop) or none does (misfit=skip). The published baseline adds the
// remaining fraction, so that long jobs go first; prefer=short turns the sign, as Tetris means it.

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "stages/fill/increments.h"
#include "stages/fill/unit_placer.h"

namespace allot {
namespace {

class Alignment : public Sizing {
 public:
  Alignment(bool skip, bool prefer_short) : skip_(skip), prefer_short_(prefer_short) {}

  bool places() const override { return true; }
  std::span<const NodeShare> PlaceOf(std::size_t i) const override { return placer_.PlaceOf(i); }

  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double>,
            std::vector<Grant>* grants) override {
    placer_.Reset(*o.cluster, order.size());
    jobs_.clear();
    types_.clear();
    for (const std::int32_t row : order) AddJob(o, row);
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(o.cluster->nodes().size()); ++node) {
      FillNode(o, order, node);
    }
    placer_.Grants(o, order, types_, grants);
  }

 private:
  struct JobView {
    Resources bundle;
    double remaining;   // bundle's resources x fraction left
    std::int32_t room;  // bundles below the limit
  };

  void AddJob(const Observation& o, std::int32_t row) {
    const auto r = static_cast<std::size_t>(row);
    const ConfigurationTable& table = *o.table[r];
    JobView job{};
    job.room = kMaxGpusPerJob;
    for (std::size_t k = 0; k < table.kinds().size(); ++k) {
      job.bundle += table.kinds()[k].demand;
      job.room = std::min<std::int32_t>(job.room, table.limits().of(k));
    }
    const double left = 1 - o.done_work[r] / o.estimated_work[r];
    job.remaining = static_cast<double>(job.bundle.gpus + job.bundle.cpus) *
                    (std::isnan(left) ? 1 : left);  // unknown: all of it
    jobs_.push_back(job);
    types_.push_back(table.types().front());
  }

  void FillNode(const Observation& o, std::span<const std::int32_t> order, NodeIndex node) {
    const Node& spec = o.cluster->nodes()[static_cast<std::size_t>(node)];
    double remaining_sum = 0;
    for (const JobView& job : jobs_) remaining_sum += job.remaining;
    while (true) {
      const Resources free = spec.capacity - placer_.used(node);
      const auto alignment = [&free](const JobView& job) {
        return static_cast<double>(free.cpus * job.bundle.cpus + free.gpus * job.bundle.gpus);
      };
      double alignment_sum = 0;
      for (const JobView& job : jobs_) alignment_sum += alignment(job);
      if (!(alignment_sum > 0)) return;
      // Jobs that outlived their estimates have less than nothing left: then alignment decides.
      const auto n = static_cast<double>(jobs_.size());
      const double ratio = remaining_sum > 0 ? (alignment_sum / n) / (remaining_sum / n) : 0;
      const double weight = (prefer_short_ ? -1 : 1) * ratio;
      std::int32_t best = -1;
      double best_score = 0;
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const JobView& job = jobs_[i];
        if (job.room == 0 || types_[i] != spec.type) continue;
        if (skip_ && !job.bundle.FitsIn(free)) continue;
        const double score = alignment(job) + weight * job.remaining;
        if (best >= 0 && score <= best_score) continue;
        best = static_cast<std::int32_t>(i);
        best_score = score;
      }
      if (best < 0) return;
      const std::int32_t row = order[static_cast<std::size_t>(best)];
      const auto& kinds = o.table[static_cast<std::size_t>(row)]->kinds();
      if (!placer_.PlaceOn(node, best, kinds, kinds.size() == 1 ? 0 : kBundle)) return;
      --jobs_[static_cast<std::size_t>(best)].room;
    }
  }

  bool skip_;
  bool prefer_short_;
  UnitPlacer placer_;
  std::vector<JobView> jobs_;
  std::vector<GpuTypeIndex> types_;
};

ALLOT_REGISTER(
    SizingInfo, ([] {
      SizingInfo info;
      info.id = "alignment";
      info.summary = "Tetris: bundles by alignment with a node's free resources";
      info.needs_lengths = true;
      info.time_driven = true;
      info.params = {
          {"misfit", "skip",
           "a node is full when the best bundle does not fit (stop), or when none fits (skip)"},
          {"prefer", "short", "jobs with short remaining work first, or long as in DL2"}};
      info.make = [](const Params& params) {
        const auto choice = [&params](const char* name, const char* yes, const char* no) {
          const std::string& text = params.Text(name);
          if (text != yes && text != no) {
            throw UsageError("sizing 'alignment': '{}' must be {} or {}, got '{}'", name, yes, no,
                             text);
          }
          return text == yes;
        };
        return std::make_unique<Alignment>(choice("misfit", "skip", "stop"),
                                           choice("prefer", "short", "long"));
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
