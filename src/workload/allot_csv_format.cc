// allot's own CSV (docs/formats/workloads.md): one job per row, times in seconds from the origin.

#include "core/strings.h"
#include "workload/csv.h"
#include "workload/job_rules.h"
#include "workload/outcome.h"
#include "workload/row_error.h"
#include "workload/trace_builder.h"

namespace allot {
namespace {

const std::vector<std::string>& Required() {
  static const std::vector<std::string> columns = {"job_id", "submit_s", "gpus", "duration_s"};
  return columns;
}

Job JobOf(const CsvReader& csv, Workload* names) {
  const auto gpus = [&](std::string_view column) {
    return static_cast<GpuCount>(csv.Integer(column, 1, kMostGpus));
  };
  Job job;
  job.id = csv.Text("job_id");
  job.submit = csv.Number("submit_s");
  job.gpus = gpus("gpus");
  job.duration = csv.Number("duration_s");
  if (csv.Has("min_gpus")) job.min_gpus = gpus("min_gpus");
  if (csv.Has("max_gpus")) job.max_gpus = gpus("max_gpus");
  if (csv.Has("work")) job.work = csv.Number("work");
  if (csv.Has("priority")) job.priority = csv.Number("priority");
  if (csv.Has("deadline_s")) job.deadline = csv.Number("deadline_s");
  if (csv.Has("outcome")) {
    const auto outcome = ParseOutcome(csv.Text("outcome"));
    if (!outcome) {
      throw RowError(fmt::format("'outcome' must be one of {}", Join(OutcomeNames(), ", ")),
                     Quoted(csv.Text("outcome")), csv.place());
    }
    job.outcome = *outcome;
  }
  job.model = names->models.Intern(csv.Text("model"));
  job.tenant = names->tenants.Intern(csv.Text("tenant"));
  job.user = names->users.Intern(csv.Text("user"));
  return job;
}

Workload Read(std::string_view text, const std::string& path, const ReadOptions& options,
              ReadReport* report) {
  CsvReader csv(text, path, Required(),
                {"min_gpus", "max_gpus", "model", "work", "tenant", "user", "priority",
                 "deadline_s", "outcome"});
  TraceBuilder builder(path, options, report);
  while (csv.Next()) {
    builder.Record(csv.line(), [&] {
      csv.CheckRow();
      return JobOf(csv, &builder.workload());
    });
  }
  return builder.Finish();
}

ALLOT_REGISTER(TraceFormat,
               (TraceFormat{
                   "allot", "allot's own CSV: job_id,submit_s,gpus,duration_s and optional columns",
                   [](std::string_view head) { return HeaderMatch(head, Required()); }, Read}));

}  // namespace
}  // namespace allot
