#pragma once
// Verifies that the replay of an episode log gives every observation, action, reward and end bit
// for bit. Used by replay and pretrain.

#include <cstdint>
#include <string>
#include <vector>

#include "episode_log/episode_log.h"

namespace allot {

struct Verified {
  std::int64_t different = 0;  // data sets x steps (of finish times: x jobs) that differ
  std::string first;  // "episode 0, 'rewards' at step 3: replayed -300, logged -299"; "" for none
  // Why something could not be checked: a log of another feature version; "" for nothing.
  std::string unchecked;
};

// Verifies `episode`, number `number` of the log at `path`. DataError naming the log if it cannot
// be replayed or its columns have a wrong shape.
Verified VerifyEpisode(const std::string& path, std::int64_t number, const LoggedEpisode& episode);

// VerifyEpisode; a difference is a DataError naming log, episode, data set, step and both values.
void RequireVerified(const std::string& path, std::int64_t number, const LoggedEpisode& episode);

// DataError naming two logs and their feature versions if these differ.
void RequireOneFeatureVersion(const std::vector<std::string>& paths);

}  // namespace allot
