#include "agents/lookahead/chooser.h"

#include <algorithm>

#include "core/check.h"
#include "sim/profile.h"

namespace allot {

LookaheadChooser::LookaheadChooser(PolicyInfo info, const std::vector<std::string>& candidates,
                                   const ChooserOptions& options, const ParamLoader& loader)
    : info_(std::move(info)), options_(options) {
  ALLOT_CHECK(!candidates.empty());
  for (const std::string& spec : candidates) {
    candidates_.push_back({MakePolicy(spec, loader), MakePolicy(spec, loader), {}});
  }
}

void LookaheadChooser::OnEpisodeStart(const EpisodeContext& context) {
  for (Candidate& candidate : candidates_) candidate.present->OnEpisodeStart(context);
  options_.rules.seed = context.seed;
  chosen_ = 0;
  next_choice_ = 0;
}

std::size_t LookaheadChooser::Choose(const Observation& o) {
  const LookaheadSimulation simulation(o, options_.rules);
  LookaheadSimulation::Limits limits;
  if (options_.horizon > 0) limits.horizon = options_.horizon * o.interval;
  limits.step = options_.step * o.interval;
  std::size_t best = 0;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    const double sum = simulation.CompletionSum(*candidates_[c].future, limits);
    if (sum >= limits.give_up) continue;
    limits.give_up = sum;
    best = c;
  }
  return best;
}

void LookaheadChooser::Decide(const Observation& o, Allocation* allocation) {
  for (Candidate& candidate : candidates_) candidate.present->Decide(o, &candidate.answer);
  if (o.now >= next_choice_ && o.rows() > 0) {
    chosen_ = Choose(o);
    next_choice_ = o.now + options_.every * o.interval;
  }
  *allocation = candidates_[chosen_].answer;
}

Seconds LookaheadChooser::HoldsUntil(const Observation& o, std::span<const std::int32_t> running) {
  return std::min(allot::HoldsUntil(*candidates_[chosen_].present, o, running), next_choice_);
}

std::vector<ParamSpec> ChooserParams(int horizon, int step) {
  return {{"choice-interval", "1", "intervals between choices", 1, 1e6},
          {"horizon", fmt::format("{}", horizon),
           "intervals simulated ahead; 0: to the last completion", 0, 1e6},
          {"step", fmt::format("{}", step),
           "intervals between decisions in the simulation, besides completions", 1, 1e6},
          {"profile", "default", "simulator rules of the simulation ahead"}};
}

ChooserOptions ChooserOptionsOf(const Params& params) {
  ChooserOptions options;
  options.every = params.Integer("choice-interval");
  options.horizon = params.Integer("horizon");
  options.step = params.Integer("step");
  Registry<ProfileInfo>::Global().Get("profile", params.Text("profile")).apply(&options.rules);
  return options;
}

}  // namespace allot
