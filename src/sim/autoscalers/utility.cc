// Nodes by utility (Qiao et al., "Pollux", OSDI'21, section 4.2.2): the sum of the jobs' speedups
// over a single GPU, divided by the GPUs that are there. Above a band nodes are added, below it
// they go. How many: so that utility comes nearest to the middle of the band, where all jobs give
// up the same share of their GPUs once there are fewer than they hold, or gain it where all GPUs
// are held, and have the rate that the hull of their believed rates has there. Their scheduler
// searches an allocation for each size instead, which only a policy of its kind can.
//
// A job that waits although it was there at the last decision means one more node, whatever the
// utility: jobs that cannot be shrunk may need more GPUs than there are. Nodes change after
// `window` intervals without a change, by the mean over these.

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/index.h"
#include "sim/autoscaler.h"

namespace allot {
namespace {

// The concave hull of (cost, rate) at this cost.
double RateAt(const std::vector<HullStep>& hull, const ConfigurationTable& table, double cost) {
  double rate = 0;
  double from_cost = 0;
  for (const HullStep& step : hull) {
    const double to = table[step.to].rate;
    if (cost <= step.cost) return rate + (to - rate) * (cost - from_cost) / (step.cost - from_cost);
    rate = to;
    from_cost = step.cost;
  }
  return rate;
}

class UtilityBand : public Autoscaler {
 public:
  UtilityBand(std::int32_t least, std::int32_t most, double low, double high, int window)
      : least_(least), most_(most), low_(low), high_(high), window_(window) {}

  std::int32_t First(std::int32_t all) override { return std::min(least_, all); }

  std::int32_t Nodes(const Observation& o, std::int32_t present, std::int32_t all) override {
    const std::int32_t most = most_ > 0 ? std::min(most_, all) : all;
    const double gpus = o.cluster->total().gpus;
    sum_ += gpus > 0 ? Speedups(o, 1) / gpus : 0;
    waited_ = waited_ || AnyLeftWaiting(o);
    if (++seen_ < window_) return present;
    const double utility = sum_ / seen_;
    std::int32_t wanted = present;
    if (utility > high_ || utility < low_) wanted = Nearest(o, present, most);
    if (waited_) wanted = std::max(wanted, present + 1);
    wanted = std::clamp(wanted, std::min(least_, most), most);
    sum_ = 0;
    seen_ = 0;
    waited_ = false;
    return wanted;
  }

 private:
  // Of all jobs over a GPU each, where each had `share` times what it holds.
  static double Speedups(const Observation& o, double share) {
    double sum = 0;
    for (std::size_t row = 0; row < o.job.size(); ++row) {
      if (o.running[row] < 0) continue;
      const ConfigurationTable& table = *o.table[row];
      const Configuration& held = table[o.running[row]];
      const double rate =
          share == 1 ? held.rate : RateAt(table.hull(held.gpu_type), table, share * held.cost);
      sum += rate / table.reference_rate() * table.reference_cost();
    }
    return sum;
  }

  // The size at which utility is nearest to the middle of the band, of equal ones the smallest.
  std::int32_t Nearest(const Observation& o, std::int32_t present, std::int32_t most) const {
    const double gpus = o.cluster->total().gpus;
    const double middle = (low_ + high_) / 2;
    double held = 0;
    for (std::size_t row = 0; row < o.job.size(); ++row) {
      if (o.running[row] >= 0) held += (*o.table[row])[o.running[row]].demand.gpus;
    }
    std::int32_t best = present;
    double distance = kNever;
    for (std::int32_t nodes = std::min(least_, most); nodes <= most; ++nodes) {
      const double there = gpus * nodes / present;
      const double share = there < held || held >= gpus ? there / std::max(held, 1.0) : 1.0;
      const double apart = std::abs(Speedups(o, share) / there - middle);
      if (apart >= distance) continue;
      distance = apart;
      best = nodes;
    }
    return best;
  }

  static bool AnyLeftWaiting(const Observation& o) {
    for (std::size_t row = 0; row < o.job.size(); ++row) {
      if (o.running[row] < 0 && o.submit[row] <= o.now - o.interval) return true;
    }
    return false;
  }

  std::int32_t least_;
  std::int32_t most_;  // 0: all
  double low_;
  double high_;
  int window_;
  double sum_ = 0;  // of utilities
  int seen_ = 0;
  bool waited_ = false;
};

ALLOT_REGISTER(
    AutoscalerInfo,
    (AutoscalerInfo{
        "utility",
        "nodes such that the sum of speedups over the number of GPUs stays in a band",
        {{"min", "1", "fewest nodes; there are as many at first", 1, 1e6},
         {"max", "0", "most nodes; 0: all of the cluster", 0, 1e6},
         {"utility", "0.5|0.8", "LOW|HIGH: below nodes go, above nodes come", 0, 1e6},
         {"window", "5", "intervals between changes, over which utility is averaged", 1, 1e6}},
        [](const Params& params) -> std::unique_ptr<Autoscaler> {
          const std::vector<double> band = params.Numbers("utility");
          if (band.size() != 2 || !(band[0] < band[1])) {
            throw UsageError(
                "autoscaler 'utility': 'utility' must be LOW|HIGH with LOW below HIGH, got '{}'",
                params.Text("utility"));
          }
          const int least = params.Integer("min");
          const int most = params.Integer("max");
          if (most > 0 && most < least) {
            throw UsageError(
                "autoscaler 'utility': 'max' must be 0 or at least 'min', got {} and {}", most,
                least);
          }
          return std::make_unique<UtilityBand>(least, most, band[0], band[1],
                                               params.Integer("window"));
        }}));

}  // namespace
}  // namespace allot
