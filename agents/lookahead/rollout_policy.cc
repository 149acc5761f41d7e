// Online rollout over the index family: the policy `index` with the (alpha, beta) of a grid that
// serves the known jobs best over the next intervals. Before every choice the base point is tried
// first, so that equal ones leave things as they are.

#include "agents/lookahead/chooser.h"

namespace allot {
namespace {

std::vector<std::string> Grid(const Params& params) {
  const auto spec = [&](double alpha, double beta) {
    return fmt::format("index:alpha={},beta={},kappa={}", alpha, beta, params.Number("kappa"));
  };
  const double base_alpha = params.Number("alpha");
  const double base_beta = params.Number("beta");
  std::vector<std::string> specs{spec(base_alpha, base_beta)};
  for (const double alpha : params.Numbers("alphas")) {
    for (const double beta : params.Numbers("betas")) {
      if (alpha != base_alpha || beta != base_beta) specs.push_back(spec(alpha, beta));
    }
  }
  return specs;
}

PolicyInfo RolloutInfo() {
  PolicyInfo info;
  info.id = "rollout";
  info.summary =
      "index with the (alpha, beta) that is best in a simulation ahead, chosen at intervals";
  info.source = "allot";
  info.needs_lengths = true;
  info.time_driven = true;
  info.params = {{"alpha", "0.25", "of the base, tried first", -10, 10},
                 {"beta", "0.3", "of the base", 0, 100},
                 {"kappa", "0.3", "stickiness to the present size", 0, 100},
                 {"alphas", "0|0.1|0.25|0.5|1", "further points: all pairs with betas"},
                 {"betas", "0|0.3|0.75|2", "further points"}};
  for (ParamSpec& param : ChooserParams(24, 1)) info.params.push_back(std::move(param));
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    return std::make_unique<LookaheadChooser>(info, Grid(params), ChooserOptionsOf(params),
                                              params.loader());
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, RolloutInfo());

}  // namespace
}  // namespace allot
