#pragma once
// The team of a run that a launcher started as several processes, over torch's c10d (Gloo).

#include <memory>

#include "core/team.h"

namespace allot {

// torchrun's RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT (default 29500), or srun's SLURM_PROCID
// and SLURM_NTASKS where MASTER_ADDR is set too; else a team of one. Waits for all the others.
// UsageError when a variable is missing or is no number in range, RunError when the others do not
// come within 5 minutes.
std::shared_ptr<Team> TeamFromEnvironment();

}  // namespace allot
