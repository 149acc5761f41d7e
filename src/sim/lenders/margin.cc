// A margin over the present demand, whatever the hour: what operators do.

#include "sim/lender.h"

namespace allot {
namespace {

class MarginLender : public Lender {
 public:
  MarginLender(double margin, const ServiceLoad& load) : margin_(margin), load_(load) {}

  double NeedToLend(Seconds now, Seconds /*ahead*/) const override {
    return (1 + margin_) * load_.At(now);
  }
  double NeedToGuarantee(Seconds now, Seconds ahead) const override {
    return NeedToLend(now, ahead);
  }

 private:
  double margin_;
  const ServiceLoad& load_;
};

ALLOT_REGISTER(LenderInfo,
               (LenderInfo{.id = "margin",
                           .summary = "a margin over the present demand",
                           .params = {{"margin", "0.1", "margin over the present demand", 0, 1e6}},
                           .make = [](const Params& params, const ServiceLoad& load) {
                             return std::make_unique<MarginLender>(params.Number("margin"), load);
                           }}));

}  // namespace
}  // namespace allot
