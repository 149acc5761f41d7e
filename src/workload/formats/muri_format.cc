// Muri's traces, made of Philly's virtual clusters: times in milliseconds.

#include "workload/formats/csv_jobs.h"

namespace allot {
namespace {

std::optional<Job> ReadMuriRow(const CsvReader& row, TraceBuilder& builder) {
  constexpr double kMilli = 1000;
  Job job;
  job.id = row.Text("job_id");
  job.submit = row.Number("submit_time") / kMilli;
  job.gpus = ReadGpus(row, "num_gpu");
  job.duration = row.Number("duration") / kMilli;
  // AntMan's classes: 0 is guaranteed its resources, 1 takes what is left.
  job.priority = row.Integer("priority", 0, 1) == 0 ? 1 : 0;
  job.group = builder.workload().groups.Intern(row.Text("model_name"));
  if (job.duration == 0) return builder.Drop(kNoRunTime);
  return job;
}

ALLOT_REGISTER(
    TraceFormat,
    CsvFormat("muri", "Muri's traces: Tiresias's columns and a resource profile, in milliseconds",
              {.required = {"job_id", "num_gpu", "submit_time", "iterations", "model_name",
                            "batch_size", "duration", "interval", "iteration_time",
                            "resource_time_0", "resource_time_1", "resource_time_2", "priority"},
               .optional = {}},
              Origin::kTrace, ReadMuriRow));

}  // namespace
}  // namespace allot
