// Where services lend GPUs: jobs that run, and of those that wait the ones whose requested GPUs are
// guaranteed, as the lender predicts, for as long as they will need them or for `hours`. So a job
// that would be called back soon does not start (Alibaba's GFS, arXiv 2509.11134, section 4). The
// shortest remaining time comes first; a job of unknown length is taken to need its GPUs longer.
// Elsewhere every job is considered.

#include <algorithm>
#include <cmath>

#include "core/index.h"
#include "sched/stages.h"

namespace allot {
namespace {

class CoveredOnly : public Admission {
 public:
  explicit CoveredOnly(double hours) : shown_(hours * 3600) {}

  void Admit(const Observation& o, std::vector<std::int32_t>* rows) override {
    waiting_.clear();
    left_ = o.guaranteed;
    const auto steps = static_cast<std::size_t>(shown_ / kGuaranteeStep) + 1;
    if (left_.size() > steps) left_.resize(steps);
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      if (o.lent.has_value() && o.running[At(row)] < 0) {
        waiting_.push_back({row, RemainingOf(o, row, o.requested[At(row)])});
        continue;
      }
      rows->push_back(row);
      if (o.lent.has_value()) Take(GpusOf(o, row), RemainingOf(o, row, o.running[At(row)]));
    }
    std::sort(waiting_.begin(), waiting_.end(), [&o](const Waiting& a, const Waiting& b) {
      return std::pair(a.remaining, o.job[At(a.row)]) < std::pair(b.remaining, o.job[At(b.row)]);
    });
    for (const Waiting& job : waiting_) {
      const GpuCount gpus = GpusOf(o, job.row);
      const Seconds needed = job.remaining + o.restart_cost[At(job.row)];
      if (!Covers(gpus, needed)) continue;
      Take(gpus, needed);
      rows->push_back(job.row);
    }
    std::sort(rows->begin(), rows->end());
  }

 private:
  struct Waiting {
    std::int32_t row;
    Seconds remaining;
  };

  // More than requested an elastic job gives up again.
  static GpuCount GpusOf(const Observation& o, std::int32_t row) {
    return (*o.table[At(row)])[o.requested[At(row)]].demand.gpus;
  }
  static Seconds RemainingOf(const Observation& o, std::int32_t row, std::int32_t configuration) {
    const double work = EstimatedRemaining(o.estimated_work[At(row)], o.done_work[At(row)]);
    return std::isnan(work) ? kNever : work / (*o.table[At(row)])[configuration].rate;
  }

  // How many of the steps shown a job occupies that needs its GPUs for so long.
  std::size_t StepsOf(Seconds needed) const {
    const double steps = std::floor(needed / kGuaranteeStep) + 1;
    return steps < static_cast<double>(left_.size()) ? static_cast<std::size_t>(steps)
                                                     : left_.size();
  }
  bool Covers(GpuCount gpus, Seconds needed) const {
    return std::all_of(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(StepsOf(needed)),
                       [gpus](GpuCount left) { return left >= gpus; });
  }
  void Take(GpuCount gpus, Seconds needed) {
    for (std::size_t k = 0; k < StepsOf(needed); ++k) left_[k] -= gpus;
  }

  Seconds shown_;
  std::vector<Waiting> waiting_;
  std::vector<GpuCount> left_;  // guaranteed and not taken yet, by step
};

ALLOT_REGISTER(AdmissionInfo, ([] {
                 AdmissionInfo info;
                 info.id = "covered";
                 info.summary = "on lent GPUs: jobs whose GPUs are guaranteed while they need them";
                 info.needs_lengths = true;
                 info.time_driven = true;
                 info.params = {{"hours", "8", "longest time that must be covered", 0, 24}};
                 info.make = [](const Params& params) {
                   return std::make_unique<CoveredOnly>(params.Number("hours"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
