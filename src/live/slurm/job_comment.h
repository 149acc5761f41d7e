#pragma once
// What a user writes in a job's comment: `sbatch --comment 'allot min=1 max=8 model=resnet50'`. The
// Slurm runtime reads it at every snapshot.

#include <optional>
#include <string_view>

#include "live/job_options.h"

namespace allot {

// nullopt: the comment does not begin with the word "allot": an ordinary job. DataError naming rule
// and value otherwise.
std::optional<JobOptions> ParseJobComment(std::string_view comment);

}  // namespace allot
