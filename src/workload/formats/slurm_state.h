#pragma once
// How a job ended, by the state that Slurm's accounting gives it; Helios and Acme publish it.

#include <cstdint>
#include <optional>
#include <string_view>

#include "table/csv.h"
#include "workload/job.h"

namespace allot {

// The state in `column`: "COMPLETED", "CANCELLED by 1000", ... RowError for a state that Slurm does
// not know. States of jobs that have not ended are kUnreported.
Outcome ReadSlurmState(const CsvReader& row, std::string_view column);

// What a state means for a job: how it ended, and whether it ended at all.
struct SacctState {
  enum class Run : std::uint8_t {
    kEnded,
    kGivenBack,  // the job lost its nodes and queued again: NODE_FAIL, REQUEUED, ...
    kGoesOn,     // pending, running, ...
  };
  Outcome outcome = Outcome::kUnreported;
  Run run = Run::kEnded;
};
// nullopt for a state that Slurm does not know.
std::optional<SacctState> ParseSacctState(std::string_view text);

}  // namespace allot
