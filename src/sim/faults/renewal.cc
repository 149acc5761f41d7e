// Failures after repairs of which some did not hold: the time from a repair to the next failure is
// drawn from three exponentials, that of a node without a failure so far from one; repairs are
// drawn from quantiles. Fitted to the faults of 400 GPU servers in 349 days (Shou et al.,
// "InfiniteHBD", SIGCOMM'25; trace under Apache-2.0), in which how often a node failed before says
// nothing of how often it will, but a repair's age does.

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/fault_law.h"

namespace allot {
namespace {

constexpr Seconds kDay = 86400;
constexpr Seconds kFresh = 345 * kDay;  // mean time to the first failure of a node

struct Kind {
  double share;
  Seconds mean;
};
constexpr std::array<Kind, 3> kAfterRepair = {
    {{0.22, 0.2 * kDay}, {0.16, 12 * kDay}, {0.62, 400 * kDay}}};

// Of the 584 repairs, in days.
struct Quantile {
  double share;
  double days;
};
constexpr std::array<Quantile, 18> kRepairs = {{{0, 0},
                                                {0.1, 0.009},
                                                {0.2, 0.045},
                                                {0.25, 0.086},
                                                {0.3, 0.139},
                                                {0.4, 0.483},
                                                {0.5, 0.85},
                                                {0.6, 1.56},
                                                {0.7, 2.48},
                                                {0.75, 3.162},
                                                {0.8, 4.582},
                                                {0.85, 8.295},
                                                {0.9, 12.973},
                                                {0.925, 20.001},
                                                {0.95, 30.737},
                                                {0.975, 54.226},
                                                {0.99, 81.922},
                                                {1, 130.964}}};

constexpr double kPerNodeDay = 4.27e-3;  // failures of a node in a day in which it is up

Seconds Repair(Rng* rng) {
  const double share = rng->Uniform();
  std::size_t q = 1;
  while (kRepairs[q].share < share) ++q;
  const Quantile& low = kRepairs[q - 1];
  const Quantile& high = kRepairs[q];
  const double days =
      low.days + (high.days - low.days) * (share - low.share) / (high.share - low.share);
  return std::max(60.0, days * kDay);
}

Seconds AfterRepair(Rng* rng) {
  double share = rng->Uniform();
  std::size_t k = 0;
  while (k + 1 < kAfterRepair.size() && share >= kAfterRepair[k].share) {
    share -= kAfterRepair[k++].share;
  }
  return rng->Exponential(kAfterRepair[k].mean);
}

class RenewalFaults : public FaultLaw {
 public:
  explicit RenewalFaults(double factor) : factor_(factor) {}

  std::vector<Outage> OutagesOf(std::uint64_t node, Seconds horizon,
                                std::uint64_t seed) const override {
    std::vector<Outage> outages;
    if (factor_ == 0) return outages;
    Rng rng = StreamOf(node, seed);
    Seconds time = rng.Exponential(kFresh) / factor_;
    while (time < horizon) {
      const Seconds up = time + Repair(&rng) / factor_;
      outages.push_back({time, up});
      time = up + AfterRepair(&rng) / factor_;
    }
    return outages;
  }
  double rate() const override { return factor_ * kPerNodeDay / kDay; }

 private:
  double factor_;
};

ALLOT_REGISTER(FaultLawInfo,
               (FaultLawInfo{
                   .id = "renewal",
                   .summary = "failures after repairs of which some do not hold, as in a "
                              "trace of 400 servers",
                   .params = {{"rate", "1", "times as often, and repaired as much sooner", 0, 1e6}},
                   .make = [](const Params& params) {
                     return std::make_unique<RenewalFaults>(params.Number("rate"));
                   }}));

}  // namespace
}  // namespace allot
