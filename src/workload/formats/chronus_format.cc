// Chronus's traces: best-effort jobs and jobs with deadlines, times in minutes.

#include "core/strings.h"
#include "table/row_error.h"
#include "workload/formats/csv_jobs.h"

namespace allot {
namespace {

constexpr double kMinute = 60;

// "strict" has one deadline, "soft" a list of ever later ones of falling value, counted from the
// submission: the first is the one that was hoped for. "best" has none.
Seconds Deadline(const CsvReader& row, Seconds submit) {
  const std::string_view type = row.Text("job_type");
  if (type != "strict" && type != "soft" && type != "best") {
    throw RowError("'job_type' must be strict, soft or best", Quoted(type), row.place());
  }
  if (type == "best") return kNever;
  const auto minutes = ParseNumber(Split(row.Text("expect_time_list"), '-').front());
  if (!minutes || !(*minutes > 0)) {
    throw RowError("'expect_time_list' must begin with a number of minutes > 0",
                   Quoted(row.Text("expect_time_list")), row.place());
  }
  return submit + kMinute * *minutes;
}

std::optional<Job> ReadChronusRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("job_id");
  job.submit = kMinute * row.Number("submit_time");
  job.gpus = ReadGpus(row, "num_gpu", 0);
  job.duration = kMinute * row.Number("duration");
  job.deadline = Deadline(row, job.submit);
  if (job.gpus == 0) return builder.Drop(kNoGpus);
  if (job.duration == 0) return builder.Drop(kNoRunTime);
  job.tenant = builder.workload().tenants.Intern(row.Text("user"));  // vc_<virtual cluster>
  job.group = builder.workload().groups.Intern(row.Text("model_name"));
  return job;
}

ALLOT_REGISTER(TraceFormat,
               CsvFormat("chronus",
                         "Chronus's traces: best-effort jobs and jobs with deadlines, in minutes",
                         {.required = {"job_id", "user", "num_gpu", "submit_time", "iterations",
                                       "model_name", "duration", "interval", "expect_time_list",
                                       "expect_value_list", "best_effort", "job_type"},
                          .optional = {}},
                         Origin::kTrace, ReadChronusRow));

}  // namespace
}  // namespace allot
