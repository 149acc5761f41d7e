// allot's own CSV (docs/formats/workloads.md): one job per row, times in seconds from the origin.

#include "core/strings.h"
#include "table/row_error.h"
#include "workload/formats/csv_jobs.h"
#include "workload/job_rules.h"
#include "workload/outcome.h"

namespace allot {
namespace {

Outcome ReadOutcome(const CsvReader& row) {
  const auto outcome = ParseOutcome(row.Text("outcome"));
  if (!outcome) {
    throw RowError(fmt::format("'outcome' must be one of {}", Join(OutcomeNames(), ", ")),
                   Quoted(row.Text("outcome")), row.place());
  }
  return *outcome;
}

Seconds ReadRecordedWait(const CsvReader& row) {
  const double wait = row.Number("recorded_wait_s");
  if (!(wait >= 0 && wait <= kLongestTime)) {
    throw RowError(fmt::format("'recorded_wait_s' must be from 0 to {} s", kLongestTime),
                   Quoted(row.Text("recorded_wait_s")), row.place());
  }
  return wait;
}

Communication ReadCommunication(const CsvReader& row) {
  Communication communication;
  if (row.Has("comm_share")) communication.share = static_cast<float>(row.Number("comm_share"));
  if (!row.Has("pattern")) return communication;
  const auto pattern = ParseCommunicationPattern(row.Text("pattern"));
  if (!pattern) {
    throw RowError(
        fmt::format("'pattern' must be one of {}", Join(CommunicationPatternNames(), ", ")),
        Quoted(row.Text("pattern")), row.place());
  }
  communication.pattern = *pattern;
  return communication;
}

std::optional<Job> ReadAllotCsvRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("job_id");
  job.submit = row.Number("submit_s");
  job.gpus = ReadGpus(row, "gpus");
  job.duration = row.Number("duration_s");
  if (row.Has("min_gpus")) job.min_gpus = ReadGpus(row, "min_gpus");
  if (row.Has("max_gpus")) job.max_gpus = ReadGpus(row, "max_gpus");
  if (row.Has("work")) job.work = row.Number("work");
  if (row.Has("priority")) job.priority = row.Number("priority");
  if (row.Has("deadline_s")) job.deadline = row.Number("deadline_s");
  if (row.Has("user_estimate_s")) job.user_estimate = row.Number("user_estimate_s");
  if (row.Has("recorded_wait_s")) job.recorded_wait = ReadRecordedWait(row);
  if (row.Has("outcome")) job.outcome = ReadOutcome(row);
  if (job.outcome == Outcome::kPending) builder.Saw(job.submit);
  if (row.Has("gpu_memory_gb")) job.gpu_memory_gb = static_cast<float>(row.Number("gpu_memory_gb"));
  if (row.Has("memory_gb")) job.memory_gb = static_cast<float>(row.Number("memory_gb"));
  if (row.Has("cpus")) job.cpus = static_cast<float>(row.Number("cpus"));
  job.communication = ReadCommunication(row);
  Workload& names = builder.workload();
  job.gpu_types = names.gpu_types.Intern(row.Text(row.Has("gpu_types") ? "gpu_types" : "gpu_type"));
  job.duration_type = names.gpu_types.InternSmall(row.Text("duration_type"));
  job.model = names.models.Intern(row.Text("model"));
  job.tenant = names.tenants.Intern(row.Text("tenant"));
  job.user = names.users.Intern(row.Text("user"));
  job.group = names.groups.Intern(row.Text("group"));
  job.account = names.accounts.InternSmall(row.Text("account"));
  job.qos = names.qos.InternSmall(row.Text("qos"));
  return job;
}

ALLOT_REGISTER(TraceFormat,
               CsvFormat("allot",
                         "allot's own CSV: job_id,submit_s,gpus,duration_s and optional columns",
                         {.required = {"job_id", "submit_s", "gpus", "duration_s"},
                          .optional = {"min_gpus",        "max_gpus",
                                       "model",           "work",
                                       "tenant",          "user",
                                       "group",           "priority",
                                       "deadline_s",      "user_estimate_s",
                                       "recorded_wait_s", "outcome",
                                       "gpu_types",       "gpu_type",
                                       "duration_type",   "gpu_memory_gb",
                                       "memory_gb",       "cpus",
                                       "comm_share",      "pattern",
                                       "account",         "qos"}},
                         Origin::kTrace, ReadAllotCsvRow));

}  // namespace
}  // namespace allot
