// The interval at which writing and expected loss cost the same (perf/checkpoint_interval.h), on n
// nodes that fail at the rate h. A factor of four in h costs about a percent: `rate` says how far
// the believed rate is off.

#include "perf/checkpoint_interval.h"
#include "sim/checkpoint_rule.h"

namespace allot {
namespace {

class YoungDalyCheckpoints : public CheckpointRule {
 public:
  YoungDalyCheckpoints(Seconds cost, double believed) : cost_(cost), believed_(believed) {}

  Checkpoints Of(std::int32_t nodes, double failure_rate) const override {
    const double failures = believed_ * failure_rate * nodes;
    if (!(failures > 0)) return {.every = kNever};
    return {YoungDalyInterval(cost_, failures), cost_};
  }

 private:
  Seconds cost_;
  double believed_;
};

ALLOT_REGISTER(CheckpointRuleInfo,
               (CheckpointRuleInfo{
                   .id = "young-daly",
                   .summary = "at the interval that costs least, by nodes and their failures",
                   .params = {{"cost", "2min", "time that one takes", 1e-3, 1e9},
                              {"rate", "1",
                               "the rate of failures that jobs believe in, over "
                               "that of --failures",
                               1e-6, 1e6}},
                   .make = [](const Params& params) {
                     return std::make_unique<YoungDalyCheckpoints>(params.Duration("cost"),
                                                                   params.Number("rate"));
                   }}));

}  // namespace
}  // namespace allot
