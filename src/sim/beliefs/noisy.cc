// Tables with a random error in each rate that never goes away: what profiling once, briefly and
// elsewhere may give. The error is a function of seed, profile and configuration alone. Jobs
// without a profile (work in seconds, rate 1) have none.

#include <cmath>

#include "core/rng.h"
#include "sim/followed_truth.h"

namespace allot {
namespace {

std::unique_ptr<Belief> Make(const Params& params, const Scenario& scenario) {
  const double sigma = params.Number("sigma");
  return std::make_unique<FollowedTruth>(
      scenario, [&scenario, sigma](const ConfigurationTable& table, std::int32_t configuration) {
        Rng rng(scenario.options().seed, "belief", StableHash(table.name()),
                StableHash(table.KeyText(configuration, scenario.cluster().types())));
        return std::exp(sigma * rng.Normal());
      });
}

ALLOT_REGISTER(BeliefInfo,
               (BeliefInfo{"noisy",
                           "rates times exp(S N(0,1)), a draw for each profile and configuration",
                           {{"sigma", "0.5", "S, of the rates' log error; 0: exact", 0, 5}},
                           Make}));

}  // namespace
}  // namespace allot
