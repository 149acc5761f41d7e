#pragma once
// Merges worlds that were trained apart into one checkpoint, for networks with one part per world
// (models/net_weights.h).

#include <string>
#include <vector>

#include "models/checkpoint.h"

namespace allot {

// A world to take from another checkpoint.
struct WorldFrom {
  std::string world;
  std::string checkpoint;  // folder
};

// "pollux=DIR"; UsageError otherwise.
WorldFrom ParseWorldFrom(const std::string& text);

// Returns `base` with the parts and indices of these worlds replaced by those of their checkpoints.
// Where a checkpoint's shared weights were trained, too, what they differ by becomes part of its
// world. The result is for serving; training does not continue from it. `command` is for the card.
// DataError if a checkpoint lacks the world, or the networks differ in kind, feature version, sizes
// or length models.
Checkpoint MergeWorlds(const std::string& base, const std::vector<WorldFrom>& from,
                       const std::string& command);

}  // namespace allot
