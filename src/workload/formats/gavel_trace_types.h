#pragma once
// What Gavel's trace formats share: its job types, and the fields of its files.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "table/csv.h"
#include "workload/job.h"

namespace allot {

struct GavelTraceType {
  std::string profile;              // in the catalogue, or ""
  double philly_rate = 0;           // steps/s behind the traces with 7 fields, at any GPU count
  std::map<GpuCount, double> rate;  // ... with 10 fields, by GPUs
};

// By name, of traces/gavel_rates.csv.
const std::map<std::string, GavelTraceType, std::less<>>& GavelTraceTypes();

// Of a line with ten fields.
inline const std::vector<std::string> kGavelFields = {
    "job_type",    "command",      "working_directory", "num_steps_arg", "needs_data_dir",
    "total_steps", "scale_factor", "priority_weight",   "SLO",           "arrival_time"};

// A priority weight, > 0; RowError otherwise.
double ReadGavelWeight(const CsvReader& row);
// A deadline as a multiple of the run time, > 0; negative or empty: none. RowError for 0.
void ReadGavelSlo(const CsvReader& row, std::string_view column, Job* job);

}  // namespace allot
