#pragma once
// Single decisions of Gavel's policies, solved again: the folder `snapshots/` of its reference data
// holds the inputs of each, the exact optimum found by a general solver, and what the peer
// answered. gavel_peer.cc adds these cases to those of whole runs.

#include <string>
#include <vector>

#include "fidelity/peer.h"

namespace allot {

// A case a file, "snapshots.NAME". Equal means: the objective is within 1e-8 of the optimum
// (relative; two floors: 1e-6 of the level of every job, as the reference is known no better), the
// shares are within all capacities and times, and policies without an objective give the peer's
// very shares. DataError with the file for what is no snapshot. `folder` is the reference folder;
// none of its snapshots where it has no such folder.
std::vector<FidelityCase> GavelSnapshotCases(const std::string& folder);

}  // namespace allot
