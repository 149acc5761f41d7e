// Helios (SenseTime): cluster_log.csv of one of its four clusters. CPU jobs, half of all, are left
// out.

#include "workload/formats/csv_jobs.h"
#include "workload/formats/slurm_state.h"

namespace allot {
namespace {

std::optional<Job> ReadHeliosRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("job_id");
  job.submit = row.Calendar("submit_time");
  job.gpus = ReadGpus(row, "gpu_num", 0);
  job.outcome = ReadSlurmState(row, "state");
  if (job.gpus == 0) return builder.Drop(kNoGpus);
  if (!row.Has("start_time") || row.Text("start_time") == "None")
    return builder.Drop(kNeverStarted);
  job.duration = row.Number("duration");
  if (job.duration == 0) return builder.Drop(kNoRunTime);
  Workload& names = builder.workload();
  job.tenant = names.tenants.Intern(row.Text("vc"));
  job.user = names.users.Intern(row.Text("user"));
  return job;
}

ALLOT_REGISTER(TraceFormat,
               CsvFormat("helios", "Helios (SenseTime): cluster_log.csv of one cluster",
                         {.required = {"job_id", "user", "vc", "gpu_num", "cpu_num", "node_num",
                                       "state", "submit_time", "start_time", "end_time", "duration",
                                       "queue"},
                          .optional = {}},
                         Origin::kCalendar, ReadHeliosRow));

}  // namespace
}  // namespace allot
