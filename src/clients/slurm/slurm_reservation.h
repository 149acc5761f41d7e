#pragma once
// Slurm's reservations, as both back ends read them: what of which nodes is kept for somebody.

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "clients/slurm/slurm_records.h"

namespace allot {

// Nodes that are kept for those whom it names, while it lasts.
struct SlurmReservation {
  std::time_t begin = 0;
  std::time_t end = 0;
  std::vector<std::string> nodes;
  int cpus = 0;  // of all of them
  int gpus = 0;  // the same, where it names some
};

// GPUs that a reservation names, parts of GPUs that are a type included.
int GpusOfTres(std::string_view tres);

// Sets what is reserved of each node, as a whole or in part, by reservations that last at `now`,
// and when it will be reserved as a whole; with time alone they begin and end.
void MarkReservations(const std::vector<SlurmReservation>& reservations, std::time_t now,
                      std::vector<SlurmNode>* nodes);

}  // namespace allot
