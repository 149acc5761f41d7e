// The weighted alpha-fair index with fixed numbers: u = -alpha ln(time), beta, kappa for every job.
// Time is the remaining time in the smallest configuration, or the service attained where lengths
// are unknown. docs/learning.md says which heuristics its points are.

#include <cmath>

#include "sched/hull_fill.h"
#include "sched/policy.h"
#include "sched/remaining.h"

namespace allot {
namespace {

class IndexHeuristic : public Policy {
 public:
  IndexHeuristic(const Params& params, PolicyInfo info)
      : info_(std::move(info)),
        alpha_(params.Number("alpha")),
        attained_(params.Text("basis") == "attained"),
        fill_(HullFillOptions{.first_bonus = static_cast<float>(params.Number("first"))}),
        placement_(MakeStage<Placement>("placement", params.Text("placement"))) {
    shape_.beta = static_cast<float>(params.Number("beta"));
    shape_.kappa = static_cast<float>(params.Number("kappa"));
    if (!attained_ && params.Text("basis") != "remaining") {
      throw UsageError("policy 'index': 'basis' must be remaining or attained, got '{}'",
                       params.Text("basis"));
    }
    info_.needs_lengths = !attained_;
  }

  const PolicyInfo& info() const override { return info_; }

  void Decide(const Observation& o, Allocation* allocation) override {
    rows_.clear();
    scores_.clear();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      const auto r = static_cast<std::size_t>(row);
      const double work = attained_ ? o.done_work[r] : ReckonedRemaining(o, row);
      const double intervals = work / o.table[r]->reference_rate() / o.interval;
      Score score = shape_;
      score.u = static_cast<float>(-alpha_ * std::log(intervals + 0.01));
      rows_.push_back(row);
      scores_.push_back(score);
    }
    grants_.clear();
    fill_.Fill(o, rows_, scores_, &grants_);
    placement_->Place(o, grants_, allocation);
  }

 private:
  PolicyInfo info_;
  double alpha_;
  bool attained_;
  Score shape_;
  HullFill fill_;
  std::unique_ptr<Placement> placement_;
  std::vector<std::int32_t> rows_;
  std::vector<Score> scores_;
  std::vector<Grant> grants_;
};

PolicyInfo MakeInfo() {
  PolicyInfo info;
  info.id = "index";
  info.summary = "weighted alpha-fair index with fixed numbers, greedy fill on concave hulls";
  info.needs_lengths = true;
  info.time_driven = true;
  info.params = {{"alpha", "0.25", "weight of short time: u = -alpha ln(time)", -10, 10},
                 {"beta", "0.3", "fairness: 0 throughput, 1 proportional, large max-min", 0, 100},
                 {"kappa", "0.3", "stickiness to the present size", 0, 100},
                 {"first", "0", "bonus of each job's first step", 0, 1000},
                 {"basis", "remaining", "time meant: remaining (estimated) or attained"},
                 {"placement", "packed", "stage: which GPUs on which nodes"}};
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    return std::make_unique<IndexHeuristic>(params, info);
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, MakeInfo());

}  // namespace
}  // namespace allot
