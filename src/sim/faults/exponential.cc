// Failures without memory: times between them, and repairs, are exponential.

#include "sim/fault_law.h"

namespace allot {
namespace {

class ExponentialFaults : public FaultLaw {
 public:
  explicit ExponentialFaults(const Params& params)
      : between_(params.Duration("between")), repair_(params.Duration("repair")) {}

  std::vector<Outage> OutagesOf(std::uint64_t node, Seconds horizon,
                                std::uint64_t seed) const override {
    return ExponentialOutages(between_, repair_, horizon, StreamOf(node, seed));
  }
  double rate() const override { return 1 / between_; }

 private:
  Seconds between_;
  Seconds repair_;
};

ALLOT_REGISTER(FaultLawInfo,
               (FaultLawInfo{.id = "exponential",
                             .summary = "failures without memory",
                             .params = {{"between", "30d", "mean time up of a node", 1, 1e12},
                                        {"repair", "2h", "mean time of a repair", 1, 1e12}},
                             .make = [](const Params& params) {
                               return std::make_unique<ExponentialFaults>(params);
                             }}));

}  // namespace
}  // namespace allot
