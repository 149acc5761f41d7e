// The demand at this time of the week, whatever it is now. Levels of days drift, so that this is
// worse than a margin over the present demand (docs/failures.md).

#include "sim/seasonal_lender.h"

namespace allot {
namespace {

ALLOT_REGISTER(LenderInfo,
               (LenderInfo{.id = "season",
                           .summary = "the demand at this time of the week",
                           .params = SeasonalLender::Parameters(),
                           .make = [](const Params& params,
                                      const ServiceLoad& load) -> std::unique_ptr<Lender> {
                             return std::make_unique<SeasonalLender>(
                                 params, load, SeasonalLender::Deviation::kForgotten);
                           }}));

}  // namespace
}  // namespace allot
