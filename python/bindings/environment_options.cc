#include "bindings/environment_options.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/agent_options.h"
#include "core/error.h"
#include "experiment/score/score_task.h"
#include "experiment/world.h"
#include "experiment/world_options.h"

namespace allot {
namespace {

// Episodes of a world: of its settings; where loads are given random spans of its trace, each at
// one of them, or (weekly) those that --seed means on the command line; else the whole window, the
// same each time. What they need lives as long as they.
EpisodeSource EpisodesOf(const std::shared_ptr<World>& world, const nb::dict& options) {
  const WorldSpec& spec = world->spec();
  if (world->in_settings()) {
    std::vector<EpisodeSource> sources;
    for (const Setting& setting : world->mixed_settings()) sources.push_back(setting.episodes);
    return sources.size() == 1 ? sources.front() : MixedEpisodes(std::move(sources));
  }
  const auto windows = nb::cast<std::string>(options["windows"]);
  if (windows != "random" && windows != "weekly") {
    throw UsageError("windows must be 'random' or 'weekly', got '{}'", windows);
  }
  if (windows == "weekly") {
    const EpisodeSource source = world->EvaluationEpisodes();
    return [world, source](std::uint64_t seed) { return source(seed); };
  }
  if (!spec.loads.empty() || world->made_by_law()) {
    const Seconds span = ParseWhen(world->trace(), spec.span);
    const EpisodeSource source = world->TrainingEpisodes(world->cluster(), span, spec.loads);
    return [world, source](std::uint64_t seed) { return source(seed); };
  }
  const auto scenarios = std::make_shared<const std::vector<World::Named>>(world->Scenarios());
  return [world, scenarios](std::uint64_t seed) {
    return (*scenarios)[seed % scenarios->size()].scenario;
  };
}

// Of the largest cluster of the world.
int NodesOf(World& world) {
  if (!world.in_settings()) return static_cast<int>(world.cluster().nodes().size());
  std::size_t most = 0;
  for (const Setting& setting : world.mixed_settings()) {
    most = std::max(most, setting.episodes(0)->cluster().nodes().size());
  }
  return static_cast<int>(most);
}

std::optional<std::int64_t> MaxDecisionsOf(const nb::handle& given) {
  if (nb::isinstance<nb::str>(given)) return std::nullopt;  // "auto"
  const auto count = nb::cast<std::int64_t>(given);
  if (count < 1) throw UsageError("max_decisions must be >= 1 or 'auto', got {}", count);
  return count;
}

}  // namespace

EnvironmentOptions EnvironmentOptionsOf(const std::map<std::string, std::string>& texts,
                                        const nb::dict& own) {
  EnvironmentOptions options;
  auto world = std::make_shared<World>(WorldFromTexts(texts));
  if (const auto id = nb::cast<std::string>(own["task"]); !id.empty()) {
    if (!texts.empty()) {
      throw UsageError("task '{}' is a world of its own, got also the option '{}'", id,
                       texts.begin()->first);
    }
    const ScoreTask& task = Registry<ScoreTask>::Global().Get("task", id);
    const ScoreSplit split = ScoreSplitNamed(nb::cast<std::string>(own["split"]));
    options.episodes = EpisodesOf(task, split, nb::cast<std::string>(own["salt"]));
    world = std::make_shared<World>(WorldSpec{.setting = task.setting(split)});
  } else {
    options.episodes = EpisodesOf(world, own);
  }
  ClusterEnvOptions& env = options.of_each;
  static_cast<AgentSideOptions&>(env) = AgentSideOptionsOf(own);
  if (IsGraph(own) && env.graph_nodes == 0) env.graph_nodes = NodesOf(*world);
  env.reward = nb::cast<std::string>(own["reward"]);
  env.reward_scale = nb::cast<double>(own["reward_scale"]);
  if (!std::isfinite(env.reward_scale)) {
    throw UsageError("reward_scale must be finite, got {}", env.reward_scale);
  }
  env.max_decisions = MaxDecisionsOf(own["max_decisions"]);
  return options;
}

}  // namespace allot
