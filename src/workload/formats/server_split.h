#pragma once
// The GPUs of a job per server, as Philly tables write them: "4+4". Used by their formats to check
// a row against itself.

#include <string_view>

#include "table/csv.h"
#include "workload/job.h"

namespace allot {

// RowError unless the parts in `column` are positive whole numbers that add up to `gpus`, which
// stands in `total`.
void CheckServerSplit(const CsvReader& row, std::string_view column, std::string_view total,
                      GpuCount gpus);

}  // namespace allot
