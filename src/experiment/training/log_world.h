#pragma once
// Episode logs as a world to train in: what 'allot train --from-log' continues from.

#include <memory>
#include <string>
#include <vector>

#include "envs/episodes.h"
#include "length_model/length_model.h"

namespace allot {

// The first three quarters of each log's time are for training, the last for validation.
struct LogWorld {
  EpisodeSource training;          // windows of the logs, in which all jobs come as they came
  EpisodeSource validation;        // the same of their last quarters
  LengthModel lengths;             // knows the run times of the first three quarters
  std::int64_t max_decisions = 0;  // twice an episode's span
  std::string note;                // what was read, for people
};

// `span`: of an episode's arrivals, at most. DataError naming log, episode and what is missing.
LogWorld ReadLogWorld(const std::vector<std::string>& logs, Seconds span);

}  // namespace allot
