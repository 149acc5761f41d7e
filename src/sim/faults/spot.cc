// Spare capacity of a cloud: each node is called back after an exponential time, with notice, and
// offered again after another one. AWS announces a recall two minutes before, Azure and Google half
// a minute.

#include "sim/fault_law.h"

namespace allot {
namespace {

class SpotRecalls : public FaultLaw {
 public:
  explicit SpotRecalls(const Params& params)
      : between_(params.Duration("between")),
        away_(params.Duration("away")),
        notice_(params.Duration("notice")) {}

  std::vector<Outage> OutagesOf(std::uint64_t node, Seconds horizon,
                                std::uint64_t seed) const override {
    return ExponentialOutages(between_, away_, horizon, StreamOf(node, seed));
  }
  double rate() const override { return 1 / between_; }
  std::optional<Seconds> notice() const override { return notice_; }

 private:
  Seconds between_;
  Seconds away_;
  Seconds notice_;
};

ALLOT_REGISTER(FaultLawInfo,
               (FaultLawInfo{
                   .id = "spot",
                   .summary = "spare capacity that is called back with notice",
                   .params = {{"between", "12h", "mean time for which a node is lent", 1, 1e12},
                              {"away", "2h", "mean time until it is lent again", 1, 1e12},
                              {"notice", "2min", "time between a recall and its effect", 0, 1e9}},
                   .make = [](const Params& params) {
                     return std::make_unique<SpotRecalls>(params);
                   }}));

}  // namespace
}  // namespace allot
