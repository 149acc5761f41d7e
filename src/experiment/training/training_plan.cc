#include "experiment/training/training_plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "experiment/training/log_world.h"
#include "sim/profile.h"
#include "workload/calendar.h"
#include "workload/history_file.h"

namespace allot {
namespace {

// Some policies never end an episode.
constexpr std::int64_t kMostValidationDecisions = 20'000;

const std::vector<double> kUsualLoads = {0.7, 1.0, 1.3};

// To two digits.
double RoundedDown(double value) {
  const double scale = std::pow(10, 1 - std::floor(std::log10(value)));
  return std::floor(value * scale) / scale;
}

// Seeds that training itself never draws.
std::uint64_t ValidationSeed(int k) {
  return 0x76616c6964000000ULL + static_cast<std::uint64_t>(k);
}

EpisodeWorld WorldIn(const Setting& setting, const TrainOptions& o) {
  const std::string& teacher = o.teacher == kTunedIndex && !o.index.empty() ? o.index : o.teacher;
  return {setting.profile,
          [spec = World::SpecIn(setting, teacher)] { return MakePolicy(spec, FileLoader()); }};
}

// Samples of the training weeks; validation at every load.
TrainingPlan TraceEpisodes(World* world, TrainOptions* o) {
  TrainingPlan made;
  const ClusterSpec cluster = ClusterSpec::Parse(o->training_cluster);
  const Seconds span = ParseWhen(world->trace(), o->episode_span);
  made.note = world->ReadNote();
  // An episode is cut at twice its span: a policy must not learn to wait for the last very long
  // job.
  o->trainer.max_decisions = static_cast<std::int64_t>(2 * span / world->sim().interval);
  made.validation_decisions = o->trainer.max_decisions;
  for (int k = 0; k < o->validation_workloads; ++k) {
    const double load = o->training_loads[static_cast<std::size_t>(k) % o->training_loads.size()];
    const EpisodeSource source = world->TrainingEpisodes(cluster, span, {load});
    made.validation.push_back({source(ValidationSeed(k)), o->trainer.WorldOf(0), ""});
  }
  made.episodes = world->TrainingEpisodes(cluster, span, o->training_loads);
  return made;
}

TrainingPlan LogEpisodes(TrainOptions* o) {
  TrainingPlan made;
  LogWorld logs = ReadLogWorld(o->from_logs, ParseWhen(Workload{}, o->episode_span));
  made.note = logs.note;
  if (o->history.empty()) o->trainer.lengths = std::move(logs.lengths);
  o->trainer.max_decisions = made.validation_decisions = logs.max_decisions;
  for (int k = 0; k < o->validation_workloads; ++k) {
    made.validation.push_back({logs.validation(ValidationSeed(k)), o->trainer.WorldOf(0), ""});
  }
  made.episodes = std::move(logs.training);
  return made;
}

TrainingPlan SettingEpisodes(World* world, TrainOptions* o) {
  TrainingPlan made;
  const std::vector<Setting>& settings = world->mixed_settings();
  o->trainer.max_decisions = 0;
  made.validation_decisions = kMostValidationDecisions;
  std::vector<EpisodeSource> sources;
  for (const Setting& setting : settings) {
    o->trainer.max_decisions = std::max(o->trainer.max_decisions, setting.training_decisions);
    sources.push_back(setting.episodes);
  }
  for (int k = 0; k < o->validation_workloads; ++k) {
    const Setting& setting = settings[static_cast<std::size_t>(k) % settings.size()];
    made.validation.push_back(
        {setting.episodes(ValidationSeed(k)), WorldIn(setting, *o), setting.name});
  }
  o->trainer.world_of = [&settings, o](std::uint64_t seed) {
    return WorldIn(settings[SettingOf(seed, settings.size())], *o);
  };
  made.episodes = MixedEpisodes(std::move(sources));
  return made;
}

}  // namespace

WorldSpec AtIntervals(WorldSpec spec) {
  if (!spec.profile) spec.profile = kDefaultProfile;
  return spec;
}

std::map<std::string, std::string> IndicesFor(World* world, const TrainOptions& o) {
  std::map<std::string, std::string> indices = world->TunedIndices();
  if (o.index.empty()) return indices;
  for (auto& [name, index] : indices) index = o.index;
  return indices;
}

std::string ChooseTrainingLoads(World* world, TrainOptions* o) {
  const std::vector<double>& of_world = o->world.loads;
  if (!o->training_loads.empty() && !of_world.empty()) {
    throw UsageError("--training-loads and --load both say what training offers, got {} and {}",
                     fmt::join(o->training_loads, ","), fmt::join(of_world, ","));
  }
  const bool chosen = !o->training_loads.empty() || !of_world.empty();
  const char* const option = of_world.empty() ? "--training-loads" : "--load";
  if (o->training_loads.empty()) o->training_loads = chosen ? of_world : kUsualLoads;
  if (!o->from_logs.empty() || world->in_settings()) return "";
  const ClusterSpec cluster = ClusterSpec::Parse(o->training_cluster);
  const std::vector<double> offered =
      world->LoadsOfSpans(cluster, ParseWhen(world->trace(), o->episode_span));
  double& highest = *std::max_element(o->training_loads.begin(), o->training_loads.end());
  if (chosen) {
    if (highest <= offered.back()) return "";
    throw DataError(
        "{} must be what a part of '{}' offers to {}: at most {:.4g} in {}, got {}; a smaller "
        "--training-cluster is offered more",
        option, world->trace().name, o->training_cluster, offered.back(), o->episode_span, highest);
  }
  const double usual = offered[offered.size() / 2];  // of half of the spans at least
  if (highest <= usual || usual <= 0) return "";
  const double factor = usual / highest;
  for (double& load : o->training_loads) load = RoundedDown(load * factor);
  return fmt::format(
      "note: '{}' offers {} a load of {:.3g} in {}; training loads are {} instead of {} "
      "(--training-loads chooses others)\n",
      world->trace().name, o->training_cluster, usual, o->episode_span,
      fmt::join(o->training_loads, ","), fmt::join(kUsualLoads, ","));
}

TrainingPlan MakeTrainingPlan(World* world, TrainOptions* o) {
  if (o->from_logs.empty() && world->in_settings()) return SettingEpisodes(world, o);
  o->trainer.teacher = [world, o] {
    return o->teacher == kTunedIndex
               ? MakePolicy(IndicesFor(world, *o).at(world->name()), FileLoader())
               : world->MakePolicy(o->teacher);
  };
  o->trainer.world_of = [world, o](std::uint64_t) {
    return EpisodeWorld{world->name(), o->trainer.teacher};
  };
  return o->from_logs.empty() ? TraceEpisodes(world, o) : LogEpisodes(o);
}

}  // namespace allot
