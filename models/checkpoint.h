#pragma once
// A checkpoint: everything that serving needs (weights, their shape, the feature version they were
// trained on) and that resuming needs bit for bit (Adam's moments, the trainer's own state), as a
// folder that appears whole or not at all. docs/formats/checkpoint.md describes the files.
//
// Written by training, read by training, evaluation and the daemon. manifest.json holds the size
// and checksum of every file that a machine reads, so that a flipped byte, a cut file or files of
// two checkpoints mixed together are found before anything is used.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "models/adam.h"
#include "models/net_weights.h"

namespace allot {

struct Checkpoint {
  int feature_version = 0;  // of the encoding that the inputs must come from
  NetWeights weights;
  std::optional<AdamState> adam;  // absent in weights released for serving only
  TensorMap memory;       // what else the trainer needs to continue: a critic, a replay buffer
  nlohmann::json state;   // the trainer's: counters, seed, metric history
  nlohmann::json config;  // the effective configuration of the run
  std::string card;       // model card, Markdown; for people, hence not in the manifest
};

// Replaces a folder of that name. RunError when a number to be saved is not finite or the disk is
// full; what stood under the name before is then still there.
void SaveCheckpoint(const Checkpoint& checkpoint, const std::string& path);

// DataError naming the file, the rule and both values for whatever is missing, cut, altered or
// inconsistent. That the tensors are those of their kind and sizes is for the network to check.
Checkpoint LoadCheckpoint(const std::string& path);

// DataError unless the checkpoint was trained on this feature version. `path` is for the message.
void RequireFeatureVersion(const Checkpoint& checkpoint, int feature_version,
                           const std::string& path);

}  // namespace allot
