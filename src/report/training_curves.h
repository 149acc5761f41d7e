#pragma once
// What a training directory holds, as columns.

#include <filesystem>
#include <optional>
#include <string>

#include "metrics/csv.h"

namespace allot {

// Both absent when the directory is no training's.
struct TrainingCurves {
  std::string name;
  std::optional<NumberColumns> curve;     // curve.csv, reinforcement learning
  std::optional<NumberColumns> pretrain;  // pretrain.csv, imitation
};
TrainingCurves ReadTrainingCurves(const std::filesystem::path& directory);

}  // namespace allot
