// ElasticFlow's traces: jobs with a deadline. Where a row has two durations, `real_duration` is
// what the job takes and `duration` the scheduler's estimate.

#include "workload/formats/csv_jobs.h"

namespace allot {
namespace {

std::optional<Job> ReadElasticFlowRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("job_id");
  job.submit = row.Number("submit_time");
  job.gpus = ReadGpus(row, "num_gpu");
  job.deadline = row.Number("ddl");
  job.duration = row.Number("duration");
  if (row.Has("real_duration")) {
    job.user_estimate = job.duration;
    job.duration = row.Number("real_duration");
  }
  job.group = builder.workload().groups.Intern(row.Text("model_name"));
  if (job.duration == 0) return builder.Drop(kNoRunTime);
  return job;
}

ALLOT_REGISTER(TraceFormat,
               CsvFormat("elasticflow", "ElasticFlow's traces: jobs with absolute deadlines",
                         {.required = {"job_id", "submit_time", "iteration", "model_name", "ddl",
                                       "batch_size", "num_gpu", "duration"},
                          .optional = {"real_iteration", "real_duration"}},
                         Origin::kTrace, ReadElasticFlowRow));

}  // namespace
}  // namespace allot
