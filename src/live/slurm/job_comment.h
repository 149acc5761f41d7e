#pragma once
// What a user writes in a job's comment: `sbatch --comment 'allot min=1 max=8 model=resnet50'`. The
// Slurm runtime reads it at every snapshot. Strict: what is not understood is an error, so that a
// mistyped limit does not go unseen.

#include <optional>
#include <string>
#include <string_view>

#include "live/runtime.h"

namespace allot {

struct JobComment {
  GpuCount min_gpus = 1;
  GpuCount max_gpus = 1;
  GpuCount requested = 1;  // min where not said
  ResizeMode mode = ResizeMode::kHot;
  std::string gpu_types;  // "a100|v100"; "": not said
  std::string model;
  double total_work = kUnknown;
};

// nullopt: the comment does not begin with the word "allot": an ordinary job. DataError naming rule
// and value otherwise.
std::optional<JobComment> ParseJobComment(std::string_view comment);

}  // namespace allot
