#include "agents/training/trainer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/learned/agent.h"
#include "agents/training/divergence_guard.h"
#include "core/error.h"

namespace allot {

bool TrainerInfo::Trains(const NetworkInfo& network) const {
  return actions.empty() ||
         std::find(actions.begin(), actions.end(), network.actions) != actions.end();
}

std::unique_ptr<Trainer> MakeTrainer(std::string_view spec, TrainerOptions options,
                                     EpisodeSource episodes, TrainerState state) {
  if (options.workloads < 1) throw UsageError("workloads must be >= 1, got {}", options.workloads);
  const NamedParams named = ParseNamedParams(spec);
  const auto& info = Registry<TrainerInfo>::Global().Get("training method", named.name);
  const NetworkInfo& network = NetworkOf(state.weights);
  if (!info.Trains(network)) {
    throw UsageError("training method '{}' trains networks of {} actions, '{}' is of {} actions",
                     info.id, fmt::join(info.actions, " or "), network.id, network.actions);
  }
  if (options.team->size() > 1 && !info.shared) {
    throw UsageError("training method '{}' runs in one process, started were {}", info.id,
                     options.team->size());
  }
  return std::make_unique<DivergenceGuard>(
      info.make(Params(fmt::format("training method '{}'", info.id), info.params, named.given),
                std::move(options), std::move(episodes), std::move(state)));
}

double ShareDone(std::int64_t iteration, int iterations) {
  return std::min(1.0, static_cast<double>(iteration) / std::max(1, iterations - 1));
}

double LearningRateAt(std::int64_t iteration, int iterations, double first, double last) {
  return first * std::pow(last / first, ShareDone(iteration, iterations));
}

double EntropyWeightAt(std::int64_t iteration, int iterations, double first, double last) {
  return first + ShareDone(iteration, iterations) * (last - first);
}

}  // namespace allot
