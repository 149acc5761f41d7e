// job_id,arrival_s,service_sec,gpu_count: sub-samples of Helios (Venus) and of Alibaba's PAI trace
// in one plain table; some have the user and how the job ended.

#include "workload/formats/csv_jobs.h"

namespace allot {
namespace {

std::optional<Job> ReadServiceRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("job_id");
  job.submit = row.Number("arrival_s");
  job.gpus = ReadGpus(row, "gpu_count");
  job.duration = row.Number("service_sec");
  if (job.duration == 0) return builder.Drop(kNoRunTime);
  job.user = builder.workload().users.Intern(row.Text("user"));
  job.outcome = ReadPhillyStatus(row, "status");
  return job;
}

ALLOT_REGISTER(TraceFormat,
               CsvFormat("service",
                         "job_id,arrival_s,service_sec,gpu_count: Helios and PAI subsets",
                         {.required = {"job_id", "arrival_s", "service_sec", "gpu_count"},
                          .optional = {"user", "status"}},
                         Origin::kTrace, ReadServiceRow));

}  // namespace
}  // namespace allot
