#pragma once
// Episode logs as a world to train in, for 'allot train --from-log'.

#include <memory>
#include <string>
#include <vector>

#include "envs/episodes.h"
#include "length_model/length_model.h"

namespace allot {

// The first three quarters of each log's time are for training, the last for validation.
struct LogWorld {
  EpisodeSource training;          // windows of the logs with their arrivals
  EpisodeSource validation;        // windows of the last quarters
  LengthModel lengths;             // knows the run times of the first three quarters
  std::int64_t max_decisions = 0;  // twice an episode's span
  std::string note;                // a sentence on what was read
};

// `span` limits the span of an episode's arrivals. DataError naming log, episode and missing part.
LogWorld ReadLogWorld(const std::vector<std::string>& logs, Seconds span);

}  // namespace allot
