#include "agents/training/sequence_rollout.h"

#include "agents/training/training_episode.h"
#include "core/rng.h"

namespace allot {
namespace {

template <typename T>
void AppendPart(std::vector<T>* to, const std::vector<T>& from, std::size_t begin,
                std::size_t end) {
  to->insert(to->end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
             from.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace

std::size_t SequenceSamples::job_features() const {
  const auto rows = static_cast<std::size_t>(first_row.back());
  return rows == 0 ? 0 : jobs.size() / rows;
}

std::size_t SequenceSamples::context_features() const {
  return size() == 0 ? 0 : contexts.size() / size();
}

std::span<const std::uint8_t> SequenceSamples::mask_of(std::size_t sample) const {
  const auto begin = static_cast<std::size_t>(first_action[sample]);
  return std::span(mask).subspan(begin, static_cast<std::size_t>(first_action[sample + 1]) - begin);
}

void SequenceSamples::Append(const SequenceDecision& choice, const DrawnAction& drawn,
                             std::int32_t at_tick, bool is_head) {
  jobs.insert(jobs.end(), choice.jobs().begin(), choice.jobs().end());
  contexts.insert(contexts.end(), choice.context().begin(), choice.context().end());
  const auto actions = static_cast<std::int64_t>(choice.mask().size());
  first_row.push_back(first_row.back() + actions / SequenceAction::kKinds);
  first_action.push_back(first_action.back() + actions);
  mask.insert(mask.end(), choice.mask().begin(), choice.mask().end());
  action.push_back(drawn.action);
  log_chance.push_back(static_cast<float>(drawn.log_chance));
  tick.push_back(at_tick);
  head.push_back(is_head ? 1 : 0);
}

void SequenceSamples::Append(const SequenceSamples& others, std::span<const std::size_t> chosen) {
  const std::size_t width = others.job_features();
  const std::size_t context_width = others.context_features();
  for (const std::size_t i : chosen) {
    const auto row = static_cast<std::size_t>(others.first_row[i]);
    const auto row_end = static_cast<std::size_t>(others.first_row[i + 1]);
    AppendPart(&jobs, others.jobs, row * width, row_end * width);
    AppendPart(&contexts, others.contexts, i * context_width, (i + 1) * context_width);
    const std::span<const std::uint8_t> own = others.mask_of(i);
    mask.insert(mask.end(), own.begin(), own.end());
    first_row.push_back(first_row.back() + static_cast<std::int64_t>(row_end - row));
    first_action.push_back(first_action.back() + static_cast<std::int64_t>(own.size()));
    action.push_back(others.action[i]);
    log_chance.push_back(others.log_chance[i]);
    tick.push_back(others.tick[i]);
    head.push_back(others.head[i]);
  }
}

void SequenceSamples::DropFirst(std::size_t samples) {
  SequenceSamples kept;
  std::vector<std::size_t> last;
  for (std::size_t i = samples; i < size(); ++i) last.push_back(i);
  kept.Append(*this, last);
  *this = std::move(kept);
}

SequenceRollout RunSequenceRollout(const std::shared_ptr<const Scenario>& scenario,
                                   const NetWeights& weights,
                                   const std::shared_ptr<const SequenceNet>& net,
                                   const SequenceRolloutOptions& options, std::uint64_t seed,
                                   std::uint64_t a, std::uint64_t b) {
  ClusterEnvOptions env_options;
  env_options.reward = options.reward;
  env_options.max_decisions = options.max_decisions;
  env_options.features = false;  // the decision encodes for itself
  TrainingEpisode episode(scenario, env_options);
  SequenceDecision decision({weights, options.lengths}, net);
  decision.OnEpisodeStart();
  Explorer explorer(options.exploration);
  Rng rng(seed, "sequence-rollout", a, b);
  SequenceRollout rollout;
  Allocation allocation;
  while (!episode.over()) {
    const std::int32_t tick = episode.tick();
    bool first = true;
    decision.Play(
        episode.observation(),
        [&](const SequenceDecision& choice) {
          const DrawnAction drawn = explorer.Draw(choice, &rng);
          rollout.samples.Append(choice, drawn, tick, first);
          first = false;
          return drawn.action;
        },
        &allocation);
    episode.Step(allocation);
  }
  rollout.reward_of_tick = episode.reward_of_tick();
  rollout.total_reward = episode.total_reward();
  return rollout;
}

}  // namespace allot
