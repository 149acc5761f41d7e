#pragma once
// Single decisions of Sia's simulator, solved again: unit/sia_decisions-*.json of its reference
// folder. Objectives must agree to the gap at which its solver stops; what is chosen may differ, as
// many answers are equally good.

#include <filesystem>
#include <vector>

#include "fidelity/peer.h"

namespace allot {

// A case a file; none where the folder has none. DataError naming file and rule.
std::vector<FidelityCase> SiaDecisions(const std::filesystem::path& folder);

}  // namespace allot
