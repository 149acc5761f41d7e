#pragma once
// Jobs from the rows of Slurm's accounting. `sacct -P` and `sacct --json` hold the same rows, so
// that one function makes their jobs.

#include <functional>
#include <string>

#include "table/csv.h"
#include "workload/formats/sacct_header.h"
#include "workload/formats/trace_builder.h"

namespace allot {

// `row` has the columns of `header`. `walk` moves it from row to row, checks each, and calls
// `add` inside of TraceBuilder::Part. DataError where no row has GPUs.
Workload ReadSacctRows(const SacctHeader& header, const CsvReader& row, const std::string& path,
                       TraceBuilder* builder, ReadReport* report,
                       const std::function<void(const std::function<void()>& add)>& walk);

}  // namespace allot
