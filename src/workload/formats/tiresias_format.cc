// The Tiresias simulator's job files, which many later simulators took over.

#include "workload/formats/csv_jobs.h"

namespace allot {
namespace {

std::optional<Job> ReadTiresiasRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("job_id");
  job.submit = row.Number("submit_time");
  job.gpus = ReadGpus(row, "num_gpu");
  job.duration = row.Number("duration");
  job.group = builder.workload().groups.Intern(row.Text("model_name"));
  if (job.duration == 0) return builder.Drop(kNoRunTime);
  return job;
}

ALLOT_REGISTER(TraceFormat,
               CsvFormat("tiresias", "job files of the Tiresias simulator and its descendants",
                         {.required = {"job_id", "num_gpu", "submit_time", "duration"},
                          .optional = {"iterations", "model_name", "interval", "start_time",
                                       "model_size", "aggr_interval", "model_scale"}},
                         Origin::kTrace, ReadTiresiasRow));

}  // namespace
}  // namespace allot
