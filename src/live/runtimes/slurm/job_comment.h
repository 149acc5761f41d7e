#pragma once
// What a user writes in a job's comment: `sbatch --comment 'allot min=1 max=8 model=resnet50'`. The
// Slurm runtime reads it at every snapshot.

#include <string_view>

#include "live/runtimes/runtime_job.h"

namespace allot {

// False: the comment does not begin with the word "allot": an ordinary job. DataError naming rule
// and value where what follows is not understood; `job` stays as it is.
bool ReadJobComment(std::string_view comment, RuntimeJob* job);

}  // namespace allot
