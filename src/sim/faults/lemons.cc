// Nodes that differ for good: each fails without memory at a rate of its own, drawn from a gamma
// distribution. The smaller its shape, the fewer nodes have most of the failures.

#include <cmath>

#include "sim/fault_law.h"

namespace allot {
namespace {

// Of mean 1 (Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", 2000; below
// shape 1 by their boost).
double Gamma(double shape, Rng* rng) {
  const double boosted = shape < 1 ? shape + 1 : shape;
  const double d = boosted - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = rng->Normal();
    const double cube = 1 + c * x;
    if (cube <= 0) continue;
    const double v = cube * cube * cube;
    if (std::log(1 - rng->Uniform()) > 0.5 * x * x + d * (1 - v + std::log(v))) continue;
    const double boost = shape < 1 ? std::pow(1 - rng->Uniform(), 1 / shape) : 1;
    return d * v * boost / shape;
  }
}

class LemonFaults : public FaultLaw {
 public:
  explicit LemonFaults(const Params& params)
      : shape_(params.Number("shape")),
        factor_(params.Number("rate")),
        between_(params.Duration("between")),
        repair_(params.Duration("repair")) {}

  std::vector<Outage> OutagesOf(std::uint64_t node, Seconds horizon,
                                std::uint64_t seed) const override {
    std::vector<Outage> outages;
    Rng rng = StreamOf(node, seed);
    const double rate = Gamma(shape_, &rng) * factor_ / between_;
    if (!(rate > 0)) return outages;
    Seconds time = rng.Exponential(1 / rate);
    while (time < horizon) {
      const Seconds up = time + rng.Exponential(repair_ / factor_);
      outages.push_back({time, up});
      time = up + rng.Exponential(1 / rate);
    }
    return outages;
  }
  double rate() const override { return factor_ / between_; }

 private:
  double shape_;
  double factor_;
  Seconds between_;
  Seconds repair_;
};

ALLOT_REGISTER(FaultLawInfo,
               (FaultLawInfo{
                   .id = "lemons",
                   .summary = "nodes of which some always fail more often than others",
                   .params = {{"shape", "0.5", "of the gamma distribution of rates", 0.01, 100},
                              {"rate", "1", "times as often, and repaired as much sooner", 0, 1e6},
                              {"between", "234d", "mean time up over all nodes", 1, 1e12},
                              {"repair", "1d", "mean time of a repair", 1, 1e12}},
                   .make = [](const Params& params) {
                     return std::make_unique<LemonFaults>(params);
                   }}));

}  // namespace
}  // namespace allot
