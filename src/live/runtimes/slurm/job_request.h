#pragma once
// What a job in Slurm's queue asks for, from Slurm's own fields and the user's comment. The Slurm
// runtime reads it at every snapshot.

#include "clients/slurm/slurm_records.h"
#include "live/runtimes/runtime.h"

namespace allot {

// Sets the sizes, the GPU types, the mode, the model and the work of `job`; throws DataError, for
// the user to read, where it asks for what cannot be given.
void ReadRequest(const SlurmJob& slurm, RuntimeJob* job);

// A job for CPUs alone, of a user who says nothing to allot.
bool WantsNoGpus(const SlurmJob& slurm);

}  // namespace allot
