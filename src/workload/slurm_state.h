#pragma once
// How a job ended, by the state that Slurm's accounting gives it; Helios and Acme publish it.

#include "workload/csv.h"
#include "workload/job.h"

namespace allot {

// The state in `column`: "COMPLETED", "CANCELLED by 1000", ... RowError for a state that Slurm does
// not know. States of jobs that have not ended are kUnreported.
Outcome ReadSlurmState(const CsvReader& row, std::string_view column);

}  // namespace allot
