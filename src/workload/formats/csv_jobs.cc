#include "workload/formats/csv_jobs.h"

#include <cmath>
#include <utility>

#include "table/row_error.h"
#include "workload/job_rules.h"
#include "workload/outcome.h"

namespace allot {

TraceFormat CsvFormat(std::string id, std::string summary, const CsvColumns& columns, Origin origin,
                      std::function<RowReader()> make) {
  TraceFormat format;
  format.id = std::move(id);
  format.summary = std::move(summary);
  format.detect = [columns](std::string_view head) {
    return HeaderMatch(head, columns.required, columns.optional);
  };
  format.read = [columns, origin, make = std::move(make)](
                    std::string_view text, const std::string& path, const ReadOptions& options,
                    ReadReport* report) {
    CsvReader csv(text, path, columns.required, columns.optional);
    TraceBuilder builder(path, options, report);
    builder.ExpectLines(text);
    const RowReader read = make();
    while (csv.Next()) {
      builder.Record(csv.line(), [&] {
        csv.CheckRow();
        return read(csv, builder);
      });
    }
    return origin == Origin::kCalendar ? builder.FinishCalendar() : builder.Finish();
  };
  return format;
}

TraceFormat CsvFormat(std::string id, std::string summary, const CsvColumns& columns, Origin origin,
                      RowReader read) {
  return CsvFormat(std::move(id), std::move(summary), columns, origin,
                   std::function<RowReader()>([read = std::move(read)] { return read; }));
}

GpuCount ReadGpus(const CsvReader& row, std::string_view column, GpuCount least) {
  return static_cast<GpuCount>(row.Integer(column, least, kMostGpus));
}

Outcome ReadPhillyStatus(const CsvReader& row, std::string_view column) {
  if (!row.Has(column)) return Outcome::kUnreported;
  const auto outcome = ParsePhillyStatus(row.Text(column));
  if (!outcome) {
    throw RowError(fmt::format("'{}' must be Pass, Failed or Killed", column),
                   Quoted(row.Text(column)), row.place());
  }
  return *outcome;
}

GpuCount WholeGpus(double gpus, TraceBuilder& builder) {
  const double whole = std::ceil(gpus);
  if (whole != gpus) builder.Adjust("a part of a GPU counted as a whole one");
  return static_cast<GpuCount>(whole);
}

}  // namespace allot
