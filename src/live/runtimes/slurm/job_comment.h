#pragma once
// What a user writes in a job's comment: `sbatch --comment 'allot min=1 max=8 model=resnet50'`. The
// Slurm runtime reads it at every snapshot.

#include <string_view>

#include "live/runtimes/runtime_job.h"

namespace allot {

// False for an ordinary job, whose comment has another first word than "allot". DataError naming
// rule and value if the rest is not understood; `job` is then unchanged.
bool ReadJobComment(std::string_view comment, RuntimeJob* job);

}  // namespace allot
