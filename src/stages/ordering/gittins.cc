// Largest Gittins index first, on attained GPU time (Tiresias-G: Gu et al., NSDI'19, section 4.2):
// who is most likely to end soon for the service that takes, given what jobs of its size class (1,
// 2-4, 5-8, more GPUs) took before; those of other classes count an eighth, so that a class of
// which little is known is not taken for better than it is. Learned from the jobs that end in the
// run and, where `history` names a trace, from that. The prior is a Pareto tail of index 1, under
// which the order is least attained service; in doubt the policy is LAS.

#include <vector>

#include "length_model/gittins_table.h"
#include "sched/incremental_stages.h"
#include "workload/history.h"

namespace allot {
namespace {

constexpr double kUnit = 1;              // GPU-seconds
constexpr double kPriorGpuSeconds = 60;  // GPU-seconds
constexpr double kOfAnotherClass = 0.125;
constexpr std::size_t kClasses = 4;

std::size_t ClassOf(GpuCount gpus) { return gpus <= 1 ? 0 : gpus <= 4 ? 1 : gpus <= 8 ? 2 : 3; }

class GittinsOrder : public Ordering, public IncrementalOrdering {
 public:
  GittinsOrder(double prior, const History* history)
      : initial_(kClasses, GittinsTable(kUnit, prior,
                                        [](double x) { return 1 / (1 + x / kPriorGpuSeconds); })) {
    if (history != nullptr) {
      for (const PastRun& run : PastRuns(history->trace, history->until)) {
        Learn(run.gpus, run.gpus * run.seconds, &initial_);
      }
    }
    tables_ = initial_;
  }

  void OnEpisodeStart() override {
    tables_ = initial_;
    events_.Reset();
  }

  const IncrementalOrdering* incremental() const override { return this; }
  // What is learned from jobs that end moves all keys.
  bool by_own_service() const override { return false; }

  void Keys(const Observation& o, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    if (events_.Follow(o.events) != EventCursor::Step::kAgain) {
      for (const EndedJob& ended : o.events.ended) {
        Learn(ended.requested_gpus, ended.gpu_seconds, &tables_);
      }
    }
    keys->clear();
    for (const std::int32_t row : rows) {
      keys->push_back(TableOf(o, row).Rank(o.attained_gpu_seconds[static_cast<std::size_t>(row)]));
    }
  }

  Drift DriftOf(const Observation& o, std::int32_t row, std::int32_t configuration) const override {
    const auto r = static_cast<std::size_t>(row);
    const double attained = o.attained_gpu_seconds[r];
    const double left = TableOf(o, row).NextChange(attained) - attained;
    return {0, o.now + left / (*o.table[r])[configuration].demand.gpus};
  }

 private:
  static void Learn(GpuCount gpus, double gpu_seconds, std::vector<GittinsTable>* tables) {
    for (std::size_t c = 0; c < kClasses; ++c) {
      (*tables)[c].Add(gpu_seconds, c == ClassOf(gpus) ? 1 : kOfAnotherClass);
    }
  }

  const GittinsTable& TableOf(const Observation& o, std::int32_t row) const {
    const auto r = static_cast<std::size_t>(row);
    return tables_[ClassOf((*o.table[r])[o.requested[r]].demand.gpus)];
  }

  std::vector<GittinsTable> initial_;
  std::vector<GittinsTable> tables_;
  EventCursor events_;
};

ALLOT_REGISTER(OrderingInfo, ([] {
                 OrderingInfo info;
                 info.id = "gittins";
                 info.summary = "largest Gittins index first, from attained GPU time by size class";
                 info.time_driven = true;
                 info.params = {
                     FileParam(
                         {"history", "",
                          "TRACE@DATE: run times of jobs submitted before the date are known"},
                         FilesOfHistory),
                     {"prior", "1", "weight of the prior (LAS), in jobs", 1e-9, 1e9}};
                 info.make = [](const Params& params) {
                   return std::make_unique<GittinsOrder>(params.Number("prior"),
                                                         HistoryOf(params).get());
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
