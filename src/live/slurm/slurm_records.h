#pragma once
// libslurm's records, read into those of slurm_client.h. Called in the client's thread only; some
// of it asks the system for users' names.

#include <slurm/slurm.h>

#include <ctime>
#include <string>
#include <vector>

#include "live/slurm/slurm_client.h"

namespace allot {

// Nodes that are kept for those whom it names, while it lasts.
struct SlurmReservation {
  std::time_t begin = 0;
  std::time_t end = 0;
  std::vector<std::string> nodes;
  int cpus = 0;  // of all of them
  int gpus = 0;  // the same, where it names some
};

SlurmJob ReadSlurmJob(const slurm_job_info_t& job);
SlurmNode ReadSlurmNode(const node_info_t& node);
SlurmReservation ReadSlurmReservation(const reserve_info_t& reservation);
// Sets what is reserved of each node, as a whole or in part, by reservations that last now.
void MarkReservations(const std::vector<SlurmReservation>& reservations,
                      std::vector<SlurmNode>* nodes);
void ReadSlurmSettings(const slurm_conf_t& configuration, const partition_info_msg_t& partitions,
                       SlurmSettings* settings);

}  // namespace allot
