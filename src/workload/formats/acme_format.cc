// Acme (Shanghai AI Laboratory): trace_seren.csv and trace_kalos.csv. Times carry a zone, one per
// cluster; a job's time of day is that of its zone.

#include <utility>

#include "table/row_error.h"
#include "workload/calendar.h"
#include "workload/formats/csv_jobs.h"
#include "workload/formats/slurm_state.h"

namespace allot {
namespace {

class AcmeReader {
 public:
  std::optional<Job> operator()(const CsvReader& row, TraceBuilder& builder) {
    Job job;
    job.id = row.Text("job_id");
    job.submit = Time(row, "submit_time");
    job.gpus = ReadGpus(row, "gpu_num", 0);
    job.outcome = ReadSlurmState(row, "state");
    if (job.gpus == 0) return builder.Drop(kNoGpus);
    if (!row.Has("start_time")) return builder.Drop(kNeverStarted);
    if (!row.Has("end_time")) return builder.DropNotEnded(Time(row, "start_time"), job.gpus);
    // Not `duration`: on Kalos it holds the time in the queue, too.
    job.duration = Time(row, "end_time") - Time(row, "start_time");
    if (job.duration == 0) return builder.Drop(kNoRunTime);
    Workload& names = builder.workload();
    job.user = names.users.Intern(row.Text("user"));
    job.group = names.groups.Intern(row.Text("type"));
    return job;
  }

 private:
  Seconds Time(const CsvReader& row, std::string_view column) {
    const auto time = ParseZonedCalendar(row.Text(column));
    if (!time) {
      throw RowError(fmt::format("'{}' must be like 2023-05-17 11:00:58+08:00", column),
                     Quoted(row.Text(column)), row.place());
    }
    if (!zone_) zone_ = time->zone;
    if (time->zone != *zone_) {
      throw RowError("all times must have one zone",
                     fmt::format("{} with {} s from UTC before", Quoted(row.Text(column)), *zone_),
                     row.place());
    }
    return static_cast<Seconds>(time->local);
  }

  std::optional<int> zone_;  // of the first time that was read
};

ALLOT_REGISTER(
    TraceFormat,
    CsvFormat("acme", "Acme (Shanghai AI Laboratory): trace_seren.csv, trace_kalos.csv",
              {.required = {"job_id", "user", "node_num", "gpu_num", "cpu_num", "type", "state",
                            "submit_time", "start_time", "end_time", "duration", "queue",
                            "gpu_time"},
               .optional = {"mem_per_pod_GB", "shared_mem_per_pod", "fail_time", "stop_time"}},
              Origin::kCalendar, std::function<RowReader()>([] { return AcmeReader(); })));

}  // namespace
}  // namespace allot
