#pragma once
// The six applications of Pollux's simulator (Qiao et al., OSDI'21, artifact), measured on nodes of
// 4 T4 GPUs: traces/pollux_applications.txt.gz, the catalogue 'pollux'.

#include "perf/catalogue.h"

namespace allot {

const Catalogue& PolluxCatalogue();

}  // namespace allot
