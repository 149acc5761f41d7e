#include "experiment/training_plan.h"

#include <algorithm>
#include <utility>

#include "experiment/log_world.h"
#include "sim/profile.h"
#include "workload/calendar.h"
#include "workload/history_file.h"

namespace allot {
namespace {

// Some policies never end an episode.
constexpr std::int64_t kMostValidationDecisions = 20'000;

// Seeds that training itself never draws.
std::uint64_t ValidationSeed(int k) {
  return 0x76616c6964000000ULL + static_cast<std::uint64_t>(k);
}

EpisodeWorld WorldIn(const Setting& setting, const std::string& teacher) {
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
        {setting.episodes(ValidationSeed(k)), WorldIn(setting, o->teacher), setting.name});
  }
  o->trainer.world_of = [&settings, o](std::uint64_t seed) {
    return WorldIn(settings[SettingOf(seed, settings.size())], o->teacher);
  };
  made.episodes = MixedEpisodes(std::move(sources));
  return made;
}

}  // namespace

WorldSpec AtIntervals(WorldSpec spec) {
  if (!spec.profile) spec.profile = kDefaultProfile;
  return spec;
}

TrainingPlan MakeTrainingPlan(World* world, TrainOptions* o) {
  if (o->from_logs.empty() && world->in_settings()) return SettingEpisodes(world, o);
  o->trainer.teacher = [world, o] {
    return o->teacher == kTunedIndex
               ? MakePolicy(world->TunedIndices().at(world->name()), FileLoader())
               : world->MakePolicy(o->teacher);
  };
  o->trainer.world_of = [world, o](std::uint64_t) {
    return EpisodeWorld{world->name(), o->trainer.teacher};
  };
  return o->from_logs.empty() ? TraceEpisodes(world, o) : LogEpisodes(o);
}

}  // namespace allot
