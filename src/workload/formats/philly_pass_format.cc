// Philly jobs that passed, with their virtual cluster: the philly.csv of Pollux, Sia and
// ElasticFlow. It names no jobs, so a job is called by its row.

#include <cmath>

#include "table/row_error.h"
#include "workload/formats/csv_jobs.h"

namespace allot {
namespace {

std::optional<Job> ReadPhillyPassRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = builder.RowId();
  job.submit = row.Calendar("timestamp");
  job.gpus = ReadGpus(row, "num_gpus");
  job.duration = row.Number("duration");
  const double gpu_time = row.Number("gpu_time");
  if (std::abs(gpu_time - job.gpus * job.duration) > 1e-6 * std::abs(gpu_time)) {
    throw RowError("'gpu_time' must be 'num_gpus' x 'duration'",
                   fmt::format("{} with {} x {}", gpu_time, job.gpus, job.duration), row.place());
  }
  if (job.duration == 0) return builder.Drop(kNoRunTime);
  job.outcome = Outcome::kPassed;
  job.tenant = builder.workload().tenants.Intern(row.Text("cluster"));
  return job;
}

ALLOT_REGISTER(TraceFormat,
               CsvFormat("philly-pass",
                         "Philly jobs that passed, with virtual cluster: Pollux's philly.csv",
                         {.required = {"timestamp", "duration", "num_gpus", "gpu_time", "cluster"},
                          .optional = {}},
                         Origin::kCalendar, ReadPhillyPassRow));

}  // namespace
}  // namespace allot
