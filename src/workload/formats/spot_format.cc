// Alibaba's spot-GPU trace (cluster-trace-v2026-spot-gpu): gangs of equal workers, high-priority or
// on spot capacity.

#include "table/row_error.h"
#include "workload/formats/csv_jobs.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

std::optional<Job> ReadSpotRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("job_name");
  job.submit = row.Number("submit_time");
  const double gpus = row.Number("gpu_request");  // of one worker
  const auto workers = static_cast<double>(row.Integer("worker_num", 1, kMostGpus));
  if (!(gpus >= 0 && gpus * workers <= kMostGpus)) {
    throw RowError(fmt::format("'gpu_request' x 'worker_num' must be from 0 to {}", kMostGpus),
                   fmt::format("{} x {}", gpus, workers), row.place());
  }
  job.duration = row.Number("duration");
  const std::string_view type = row.Text("job_type");
  if (type != "HP" && type != "Spot") {
    throw RowError("'job_type' must be HP or Spot", Quoted(type), row.place());
  }
  job.priority = type == "HP" ? 1 : 0;
  if (gpus == 0) return builder.Drop(kNoGpus);
  if (job.duration == 0) return builder.Drop(kNoRunTime);
  job.gpus = WholeGpus(gpus * workers, builder);
  job.tenant = builder.workload().tenants.Intern(row.Text("organization"));
  return job;
}

ALLOT_REGISTER(TraceFormat, CsvFormat("spot", "Alibaba spot GPU 2026: job_info_df.csv",
                                      {.required = {"job_name", "organization", "gpu_model",
                                                    "cpu_request", "gpu_request", "worker_num",
                                                    "submit_time", "duration", "job_type"},
                                       .optional = {}},
                                      Origin::kTrace, ReadSpotRow));

}  // namespace
}  // namespace allot
