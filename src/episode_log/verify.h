#pragma once
// Whether an episode log holds what playing it back gives: every observation, action, reward and
// end, bit for bit. What replay shows and pretrain insists on.

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

// Episode `number` of the log at `path`, which is `episode`. DataError naming the log where it
// cannot be played back or its columns have the wrong shape.
Verified VerifyEpisode(const std::string& path, std::int64_t number, const LoggedEpisode& episode);

// VerifyEpisode; a difference is a DataError naming log, episode, data set, step and both values.
void RequireVerified(const std::string& path, std::int64_t number, const LoggedEpisode& episode);

// DataError naming two of the logs and their versions where their features are of several.
void RequireOneFeatureVersion(const std::vector<std::string>& paths);

}  // namespace allot
