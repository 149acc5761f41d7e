#pragma once
// What Sia's scheduler believed of jobs at its recorded decisions, against what we would have
// believed: a recorded run is played again, jobs measure themselves, and the belief `online` under
// the profile `sia` says their rates. Both by configuration, over the job's least.
//
//   unit/sia_decisions-WORKLOAD.json      as for fidelity/sia_decisions.h
//   results/sia-WORKLOAD.replay.csv       as for fidelity/training_replay.h
//   workloads/WORKLOAD.csv

#include <string>
#include <vector>

#include "fidelity/peer.h"
#include "fidelity/training_replay.h"

namespace allot {

// A case for each file of decisions whose run was recorded. Both sides fit to what was measured,
// each with its own optimiser, which differ most where a job saw few placements; equal means: the
// same configurations are known, and of their values two of three are within 5 %.
std::vector<FidelityCase> SiaValues(const TrainingWorld& world);

}  // namespace allot
