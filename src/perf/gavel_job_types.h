#pragma once
// The 26 kinds of training job in Gavel's simulator (Narayanan et al., OSDI'20) and how fast they
// are, alone and consolidated, on V100, P100 and K80. From traces/gavel_speeds.csv; work counts in
// steps. Settings in Gavel's world draw their jobs from here.

#include <string>
#include <vector>

#include "perf/catalogue.h"

namespace allot {

struct GavelJobType {
  std::string name;           // of its generator, and of its profile in GavelCatalogue
  bool several_gpus = false;  // may use 2, 4 and 8 GPUs; else one
};

const std::vector<GavelJobType>& GavelJobTypes();  // in the generator's order

// The first GPU type of each profile is v100.
const Catalogue& GavelCatalogue();

}  // namespace allot
