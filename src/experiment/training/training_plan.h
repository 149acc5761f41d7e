#pragma once
// What a training run plays: episodes of a world, of a mixture of settings, or of episode logs,
// with the policy that is the measure in each, and the fixed episodes of validation.

#include <cstdint>
#include <string>
#include <vector>

#include "agents/training/validation.h"
#include "experiment/training/training_run.h"
#include "experiment/world.h"

namespace allot {

struct TrainingPlan {
  EpisodeSource episodes;
  std::vector<ValidationEpisode> validation;
  std::int64_t validation_decisions = 0;  // after so many its episodes are cut
  std::string note;                       // for people, "" for nothing
};

// Trainers count time in intervals, so that a trace in a file is decided at intervals too, unless a
// profile says otherwise; what is trained then decides at events as well (sim/event_profile.cc).
WorldSpec AtIntervals(WorldSpec spec);

// Sets options->training_loads where they are empty: to the loads of the world, else to the usual
// ones, lowered where its trace does not offer them. A note for people, "" for nothing. DataError
// naming the option for loads that no part of the trace offers, UsageError where two options give
// them.
std::string ChooseTrainingLoads(World* world, TrainOptions* options);

// Sets of options->trainer: teacher, worlds, where episodes are cut, and with logs what is known of
// run times. `world` and `options` must outlive the answer.
TrainingPlan MakeTrainingPlan(World* world, TrainOptions* options);

}  // namespace allot
