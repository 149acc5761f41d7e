// The demand at this time of the week and the present deviation from it, of which less is kept the
// farther ahead.

#include "sim/seasonal_lender.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    LenderInfo,
    (LenderInfo{
        .id = "level",
        .summary = "the demand at this time of the week, and the present deviation from it",
        .params = SeasonalLender::Parameters(),
        .make = [](const Params& params, const ServiceLoad& load) -> std::unique_ptr<Lender> {
          return std::make_unique<SeasonalLender>(params, load, SeasonalLender::Deviation::kDecays);
        }}));

}  // namespace
}  // namespace allot
