#pragma once
// The six applications of Pollux's simulator (Qiao et al., OSDI'21, artifact), measured on nodes of
// 4 T4 GPUs: traces/pollux_applications.txt.gz, the catalogue 'pollux'.

#include "perf/catalogue.h"

namespace allot {

const Catalogue& PolluxCatalogue();

// What the simulators of Pollux and Sia do not have in their tables but in their code, to be added
// to a pack of their applications: ncf has one GPU and this batch.
inline constexpr const char* kPolluxFixedBatches =
    "@file fixed_batches.csv\napplication,batch_size,max_gpus\nncf,32768,1\n";

}  // namespace allot
