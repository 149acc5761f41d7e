// Blox's load-based admission (Agarwal et al., EuroSys'24, section 5.2): jobs queue in order of
// submission and enter while the GPUs asked for by those inside do not exceed a multiple of the
// cluster's. The last one to enter may exceed it. A job that is in, or has run, stays in until it
// ends.

#include <algorithm>
#include <vector>

#include "sched/policy.h"
#include "sched/stages.h"

namespace allot {
namespace {

class LoadLimit : public Admission {
 public:
  explicit LoadLimit(double factor) : factor_(factor) {}

  void OnEpisodeStart(const EpisodeContext&) override { last_admitted_ = -1; }

  void Admit(const Observation& o, std::vector<std::int32_t>* rows) override {
    const double limit = factor_ * o.cluster->total().gpus;
    double demand = 0;
    outside_.clear();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      const auto r = static_cast<std::size_t>(row);
      if (o.job[r] <= last_admitted_ || o.changes[r] > 0) {
        demand += Asked(o, row);
        rows->push_back(row);
      } else {
        outside_.push_back(row);
      }
    }
    const auto job = [&o](std::int32_t row) { return o.job[static_cast<std::size_t>(row)]; };
    std::sort(outside_.begin(), outside_.end(),
              [&job](std::int32_t a, std::int32_t b) { return job(a) < job(b); });
    for (const std::int32_t row : outside_) {
      if (demand > limit) break;
      demand += Asked(o, row);
      last_admitted_ = job(row);
      rows->push_back(row);
    }
    std::sort(rows->begin(), rows->end());
  }

 private:
  static double Asked(const Observation& o, std::int32_t row) {
    const auto r = static_cast<std::size_t>(row);
    return (*o.table[r])[o.requested[r]].demand.gpus;
  }

  double factor_;
  JobIndex last_admitted_ = -1;  // jobs, numbered by submission, enter in that order
  std::vector<std::int32_t> outside_;
};

ALLOT_REGISTER(
    AdmissionInfo, ([] {
      AdmissionInfo info;
      info.id = "load";
      info.summary =
          "jobs in order, while the admitted ones request at most a multiple of all GPUs";
      info.params = {{"factor", "1.2", "multiple of the cluster's GPUs", 0, 1e9}};
      info.make = [](const Params& params) {
        return std::make_unique<LoadLimit>(params.Number("factor"));
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
