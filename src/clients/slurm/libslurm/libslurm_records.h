#pragma once
// libslurm's records, read into those of slurm_records.h. Called in the back end's thread only;
// some of it asks the system for users' names.

#include <slurm/slurm.h>

#include <cstdint>
#include <map>
#include <string>

#include "clients/slurm/slurm_records.h"
#include "clients/slurm/slurm_reservation.h"

namespace allot {

// Names of users as the machine knows them; each is looked up once, for a directory on the network
// takes its time.
class UserNames {
 public:
  const std::string& Of(std::uint32_t id);  // the number where it has none

 private:
  std::map<std::uint32_t, std::string> known_;
};

SlurmJob ReadSlurmJob(const slurm_job_info_t& job, UserNames* users);
SlurmNode ReadSlurmNode(const node_info_t& node);
SlurmReservation ReadSlurmReservation(const reserve_info_t& reservation);
SlurmLimits ReadSlurmLimits(const assoc_mgr_info_msg_t& message);
void ReadSlurmSettings(const slurm_conf_t& configuration, const partition_info_msg_t& partitions,
                       SlurmSettings* settings);

}  // namespace allot
