// Largest Gittins index first, given an estimate of the length: the size of a job is its estimate
// times a factor, whose distribution is learned from the jobs that end in the run. The prior is
// that of an estimate with log-normal noise, ln(size / estimate) ~ N(0, sigma^2), of which one in
// twenty is worth nothing (a Pareto tail of index 1): least expected remaining GPU time while the
// estimate may hold, less and less favoured once it has proved short. Jobs without an estimate come
// last, in order of submission.

#include <cmath>
#include <functional>

#include "length_model/gittins_table.h"
#include "sched/incremental_stages.h"

namespace allot {
namespace {

constexpr double kFactorUnit = 1.0 / 1024;  // of the estimate
constexpr double kUselessShare = 0.05;      // of all estimates

std::function<double(double)> Prior(double sigma) {
  return [sigma](double x) {
    const double noisy = std::erfc(std::log(x) / (sigma * std::sqrt(2.0))) / 2;
    return (1 - kUselessShare) * noisy + kUselessShare / (1 + x);
  };
}

// The estimated length of a row as GPU time at the requested size; NaN when there is none.
double EstimatedGpuSeconds(const Observation& o, std::int32_t row) {
  const auto r = static_cast<std::size_t>(row);
  const Configuration& asked = (*o.table[r])[o.requested[r]];
  return o.estimated_work[r] / asked.rate * asked.demand.gpus;
}

class GittinsGivenEstimateOrder : public Ordering, public IncrementalOrdering {
 public:
  GittinsGivenEstimateOrder(double prior, double sigma)
      : initial_(kFactorUnit, prior, Prior(sigma)), factors_(initial_) {}

  void OnEpisodeStart() override {
    factors_ = initial_;
    events_.Reset();
  }

  const IncrementalOrdering* incremental() const override { return this; }
  // What is learned from jobs that end moves all keys.
  bool by_own_service() const override { return false; }

  void Keys(const Observation& o, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    if (events_.Follow(o.events) != EventCursor::Step::kAgain) {
      for (const EndedJob& ended : o.events.ended) {
        const double estimate = ended.estimated_seconds() * ended.requested_gpus;
        if (estimate > 0) factors_.Add(ended.gpu_seconds / estimate);
      }
    }
    keys->clear();
    for (const std::int32_t row : rows) {
      const double estimate = EstimatedGpuSeconds(o, row);
      const double attained = o.attained_gpu_seconds[static_cast<std::size_t>(row)];
      keys->push_back(estimate > 0 ? estimate * factors_.Rank(attained / estimate) : kNever);
    }
  }

  Drift DriftOf(const Observation& o, std::int32_t row, std::int32_t configuration) const override {
    const auto r = static_cast<std::size_t>(row);
    const double estimate = EstimatedGpuSeconds(o, row);
    if (!(estimate > 0)) return {0, kNever};
    const double attained = o.attained_gpu_seconds[r];
    const double left = estimate * factors_.NextChange(attained / estimate) - attained;
    return {0, o.now + left / (*o.table[r])[configuration].demand.gpus};
  }

 private:
  GittinsTable initial_;
  GittinsTable factors_;
  EventCursor events_;
};

ALLOT_REGISTER(
    OrderingInfo, ([] {
      OrderingInfo info;
      info.id = "gittins-given-estimate";
      info.summary =
          "largest Gittins index first, from the distribution of sizes given a noisy estimate";
      info.needs_lengths = true;
      info.time_driven = true;
      info.params = {
          {"sigma", "0.5", "standard deviation of ln(size / estimate) in the prior", 0.05, 10},
          {"prior", "20", "weight of the prior, in jobs", 1e-9, 1e9}};
      info.make = [](const Params& params) {
        return std::make_unique<GittinsGivenEstimateOrder>(params.Number("prior"),
                                                           params.Number("sigma"));
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
