#pragma once
// What `scontrol show` prints as text of things that only administrators write: the configuration,
// partitions, reservations, limits. For the back end over Slurm's programs.

#include <string>
#include <string_view>
#include <vector>

#include "clients/slurm/slurm_records.h"
#include "clients/slurm/slurm_reservation.h"

namespace allot {

// Of `scontrol show config`: all but the partitions and our side's version.
void ReadConfigText(std::string_view text, SlurmSettings* settings);

// Of `scontrol --oneliner show partition`. `memory`: in a partition without a default of its own
// (SlurmSettings).
std::vector<SlurmPartition> ReadPartitionsText(std::string_view text, SlurmMemory memory);

// Of `scontrol --oneliner show reservation` with SLURM_TIME_FORMAT=%s.
std::vector<SlurmReservation> ReadReservationsText(std::string_view text);

// Of `scontrol --oneliner show assoc_mgr flags=assoc,qos`.
SlurmLimits ReadLimitsText(std::string_view text);

// Of `squeue --noheader --format=JobID,Exclusive`, which from 26.05 on says what the JSON does not:
// sets that of each job which wants whole nodes.
void MarkExclusive(std::string_view text, std::vector<SlurmJob>* jobs);

}  // namespace allot
