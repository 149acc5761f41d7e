#pragma once
// The eight kinds of training job in DL2's simulator (Peng et al., TPDS 2021): what a worker and a
// parameter server hold, and how fast so many of each are together. From traces/dl2_speeds.csv.
// Settings in DL2's world draw their jobs from here.

#include <string>
#include <vector>

#include "perf/catalogue.h"

namespace allot {

inline constexpr GpuCount kDl2MostUnits = 16;  // workers, and servers, of a job

struct Dl2JobType {
  std::string model;  // its profile in Dl2Catalogue
  double epochs = 0;  // of a job, in parts of a setting's epoch unit
};

const std::vector<Dl2JobType>& Dl2JobTypes();

// Of jobs of workers and parameter servers.
inline constexpr int kWorkerKind = 0;
inline constexpr int kServerKind = 1;
inline int WorkersOf(const UnitCounts& units) { return units.of(kWorkerKind); }
inline int ServersOf(const UnitCounts& units) { return units.of(kServerKind); }

// Their profiles; work counts in epochs. A worker holds 2 CPU slots and, where the type uses GPUs,
// 4 GPU slots (one GPU), a server 2 CPU slots, of servers with 8 and 8.
const Catalogue& Dl2Catalogue();

}  // namespace allot
