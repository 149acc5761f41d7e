// Gavel's jobs in steps, at the rates of the user's own tables (--catalogue with Gavel's files,
// perf/gavel_tables.h), whose profiles are job types: lines of ten fields, or CSV with the columns
// job_id, arrival_time_s, job_type, scale_factor, total_steps and perhaps priority_weight, slo and
// v100_duration_s, the run time on a v100 where it is known.

#include <algorithm>

#include "core/strings.h"
#include "table/row_error.h"
#include "workload/formats/csv_jobs.h"
#include "workload/formats/gavel_trace_types.h"

namespace allot {
namespace {

// Seconds on v100s; where nobody knows them, a second a step.
Seconds DurationOfSteps(const CsvReader& row, double steps, GpuCount gpus, TraceBuilder& builder) {
  if (row.Has("v100_duration_s")) {
    const double known = row.Number("v100_duration_s");
    if (known > 0) return known;
    if (known < 0) {
      throw RowError("'v100_duration_s' must be >= 0, 0 where it is not known",
                     row.Text("v100_duration_s"), row.place());
    }
  }
  const auto type = GavelTraceTypes().find(row.Text("job_type"));
  if (type != GavelTraceTypes().end()) {
    const auto rate = type->second.rate.find(gpus);
    if (rate != type->second.rate.end()) return steps / rate->second;
  }
  builder.Adjust("its run time is not known: a second a step");
  return steps;
}

std::optional<Job> ReadStepsRow(const CsvReader& row, bool csv, TraceBuilder& builder) {
  Job job;
  job.id = csv ? std::string(row.Text("job_id")) : builder.RowId();
  job.submit = row.Number(csv ? "arrival_time_s" : "arrival_time");
  job.gpus = ReadGpus(row, "scale_factor");
  job.work = row.Number("total_steps");
  if (job.work == 0) return builder.Drop(kNoRunTime);
  if (job.work < 0)
    throw RowError("'total_steps' must be >= 0", row.Text("total_steps"), row.place());
  job.duration = DurationOfSteps(row, job.work, job.gpus, builder);
  if (row.Has("priority_weight")) job.priority = ReadGavelWeight(row);
  ReadGavelSlo(row, csv ? "slo" : "SLO", &job);
  Workload& names = builder.workload();
  job.model = names.models.Intern(row.Text("job_type"));
  job.group = names.groups.Intern(row.Text("job_type"));
  return job;
}

bool HasTabs(std::string_view head) {
  return head.substr(0, head.find('\n')).find('\t') != std::string_view::npos;
}

Workload ReadGavelSteps(std::string_view text, const std::string& path, const ReadOptions& options,
                        ReadReport* report) {
  const bool csv = !HasTabs(text);
  CsvReader rows =
      csv ? CsvReader(text, path,
                      {"job_id", "arrival_time_s", "job_type", "scale_factor", "total_steps"},
                      {"priority_weight", "slo", "v100_duration_s"})
          : CsvReader::WithoutHeader(text, path, kGavelFields, '\t');
  TraceBuilder builder(path, options, report);
  while (rows.Next()) {
    builder.Record(rows.line(), [&] {
      rows.CheckRow();
      return ReadStepsRow(rows, csv, builder);
    });
  }
  return builder.Finish();
}

int DetectGavelSteps(std::string_view head) {
  const auto columns = Split(Trim(head.substr(0, head.find('\n'))), ',');
  const auto has = [&columns](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  return has("job_type") && has("total_steps") && has("arrival_time_s") ? 100 : 0;
}

ALLOT_REGISTER(TraceFormat, ([] {
                 TraceFormat format{"gavel-steps",
                                    "Gavel's jobs in steps, for its own throughput tables",
                                    DetectGavelSteps, ReadGavelSteps};
                 format.variant_of = "gavel";
                 format.objectives = true;
                 return format;
               }()));

}  // namespace
}  // namespace allot
