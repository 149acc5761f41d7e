#pragma once
// One checkpoint of worlds that were trained apart, on one machine after the other or on several at
// once: of networks with parts of worlds (models/net_weights.h).

#include <string>
#include <vector>

#include "models/checkpoint.h"

namespace allot {

// What another checkpoint gives.
struct WorldFrom {
  std::string world;
  std::string checkpoint;  // folder
};

// "pollux=DIR"; UsageError otherwise.
WorldFrom ParseWorldFrom(const std::string& text);

// `base` with the own parts, and the indices, of these worlds from their checkpoints; what it had
// of them goes. For serving: training does not continue from it. `command` is for the card.
// DataError where a checkpoint does not hold the world, or the networks differ in kind, feature
// version, sizes, shared weights or what they know of lengths: own parts are what is added to
// these.
Checkpoint MergeWorlds(const std::string& base, const std::vector<WorldFrom>& from,
                       const std::string& command);

}  // namespace allot
