#pragma once
// The episodes of a training run, from a world, a mixture of settings, or episode logs, with the
// policy that each is measured against, and the fixed episodes of validation.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agents/training/validation.h"
#include "experiment/training/training_run.h"
#include "experiment/world.h"

namespace allot {

struct TrainingPlan {
  EpisodeSource episodes;
  std::vector<ValidationEpisode> validation;
  std::int64_t validation_decisions = 0;  // its episodes are cut after so many
  std::string note;                       // a note to print, or ""
};

// Trainers count time in intervals, so a trace in a file is also decided at intervals unless the
// profile decides otherwise; a trained policy also decides at events (sim/event_profile.cc).
WorldSpec AtIntervals(WorldSpec spec);

// The fixed index to begin at, by world: that of the options, else that of each world.
std::map<std::string, std::string> IndicesFor(World* world, const TrainOptions& options);

// Sets options->training_loads if they are empty: to the loads of the world, or the usual ones,
// lowered if its trace does not offer them. Returns a note to print, or "". DataError naming the
// option for loads that no part of the trace offers; UsageError if two options give loads.
std::string ChooseTrainingLoads(World* world, TrainOptions* options);

// Sets in options->trainer: teacher, worlds, the length of episodes, and for logs the length model.
// `world` and `options` must outlive the result.
TrainingPlan MakeTrainingPlan(World* world, TrainOptions* options);

}  // namespace allot
