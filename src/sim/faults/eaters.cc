// Nodes that eat jobs: a node turns bad without going down, say by a GPU that falls off the bus,
// and most jobs that start there fail, so that it is always free for the next one; until somebody
// repairs it. Jobs of some sessions of users fail wherever they start, so that a node cannot be
// blamed for every failure. The chances are those that the rule of suspicion was measured with
// (docs/adr/0098-blame-by-node.md); pytorch/ci-infra#1058 tells of one such node.

#include "sim/fault_law.h"

namespace allot {
namespace {

class EatingNodes : public FaultLaw {
 public:
  explicit EatingNodes(const Params& params)
      : between_(params.Duration("between")),
        starts_{.of_bad_node = params.Number("fails"),
                .by_chance = params.Number("chance"),
                .broken_sessions = params.Number("broken"),
                .repair = params.Duration("repair")} {}

  std::vector<Outage> OutagesOf(std::uint64_t node, Seconds horizon,
                                std::uint64_t seed) const override {
    return ExponentialOutages(between_, starts_.repair, horizon, StreamOf(node, seed));
  }
  double rate() const override { return 1 / between_; }
  std::optional<StartFaults> starts() const override { return starts_; }

 private:
  Seconds between_;
  StartFaults starts_;
};

ALLOT_REGISTER(FaultLawInfo,
               (FaultLawInfo{
                   .id = "eaters",
                   .summary = "nodes that stay up and fail the jobs that start there",
                   .params = {{"between", "150d", "mean time until a node turns bad", 1, 1e12},
                              {"repair", "1d", "mean time until it is repaired", 1, 1e12},
                              {"fails", "0.97", "chance that a start there fails", 0, 1},
                              {"broken", "0.15",
                               "share of users' sessions whose jobs fail at every start", 0, 1},
                              {"chance", "0.004", "chance that any other start fails", 0, 0.99}},
                   .make = [](const Params& params) {
                     return std::make_unique<EatingNodes>(params);
                   }}));

}  // namespace
}  // namespace allot
