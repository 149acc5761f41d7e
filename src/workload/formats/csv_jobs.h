#pragma once
// A trace format that is a CSV table with a header and one job per row: most are. Says which
// columns there are and how a row becomes a job; detection, the walk over the rows and their checks
// are the same for all. Used by the *_format.cc files only.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table/csv.h"
#include "workload/formats/trace_builder.h"

namespace allot {

// One row, already of the right number of fields -> its job, or nullopt after builder.Drop.
using RowReader = std::function<std::optional<Job>(const CsvReader& row, TraceBuilder& builder)>;

// What Job::submit of the rows counts from.
enum class Origin {
  kTrace,     // the trace's own zero: taken as it stands
  kCalendar,  // 1970: counted from the first job, whose calendar time becomes the workload's origin
};

struct CsvColumns {
  std::vector<std::string> required;
  std::vector<std::string> optional;  // may be absent; any other column is an error
};

TraceFormat CsvFormat(std::string id, std::string summary, const CsvColumns& columns, Origin origin,
                      RowReader read);

// For formats that keep something from row to row: `make` begins a file.
TraceFormat CsvFormat(std::string id, std::string summary, const CsvColumns& columns, Origin origin,
                      std::function<RowReader()> make);

// Fields that many formats share.
GpuCount ReadGpus(const CsvReader& row, std::string_view column, GpuCount least = 1);
// How it ended, in Philly's words; unreported where the column is absent or the field empty.
Outcome ReadPhillyStatus(const CsvReader& row, std::string_view column);
// A demand in parts of GPUs, > 0, rounded up to whole ones, which is counted as an adjustment.
GpuCount WholeGpus(double gpus, TraceBuilder& builder);

}  // namespace allot
