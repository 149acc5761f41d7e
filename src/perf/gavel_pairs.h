#pragma once
// Gavel's job types with their rates in pairs on the same GPUs (Narayanan et al., OSDI'20, section
// 3.1; traces/gavel_pairs.csv). Alone they are as fast as in GavelCatalogue.

#include "perf/catalogue.h"

namespace allot {

const Catalogue& GavelPairsCatalogue();

}  // namespace allot
