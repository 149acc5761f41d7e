#pragma once
// Jobs from the rows of Slurm's accounting. `sacct -P` and `sacct --json` hold the same rows, so
// that one function makes their jobs. Used by the sacct*_format.cc files,
// and by 'allot account'.

#include <functional>
#include <string>
#include <string_view>

#include "table/csv.h"
#include "workload/formats/sacct_header.h"
#include "workload/formats/trace_builder.h"

namespace allot {

// The tenant of a job where its row has both. Rows with one of them have that.
enum class SacctTenant { kPartition, kAccount };

// `row` has the columns of `header`. `walk` moves it from row to row, checks each, and calls
// `add` inside of TraceBuilder::Part. DataError where no row has GPUs.
Workload ReadSacctRows(const SacctHeader& header, const CsvReader& row, const std::string& path,
                       TraceBuilder* builder, ReadReport* report, SacctTenant tenant,
                       const std::function<void(const std::function<void()>& add)>& walk);

// The whole of a file, as ReadFunction.
Workload ReadSacctText(std::string_view text, const std::string& path, const ReadOptions& options,
                       ReadReport* report, SacctTenant tenant);
Workload ReadSacctJson(std::string_view text, const std::string& path, const ReadOptions& options,
                       ReadReport* report, SacctTenant tenant);

}  // namespace allot
