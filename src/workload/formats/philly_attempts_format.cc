// Philly per scheduling attempt, lumos's philly_df_schedule.csv: every attempt counts as a job.

#include "workload/calendar.h"
#include "workload/formats/csv_jobs.h"

namespace allot {
namespace {

// The table was made by reading the log's times as US Eastern time; here they are turned back, so
// that an attempt has the time of day of its job in the other Philly formats.
Seconds LogTime(double epoch) {
  constexpr double kHour = 3600;
  static const auto winter = static_cast<double>(*ParseCalendar("2017-11-05 06:00:00"));  // UTC
  return epoch - (epoch < winter ? 4 * kHour : 5 * kHour);
}

std::optional<Job> ReadPhillyAttemptsRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("");  // the row number stands in a column without a name
  job.submit = LogTime(row.Number("submit_time"));
  job.gpus = ReadGpus(row, "gpu_num");
  job.duration = row.Number("run_time");
  if (job.duration == 0) return builder.Drop(kNoRunTime);
  return job;
}

ALLOT_REGISTER(TraceFormat,
               CsvFormat("philly-attempts", "Philly per scheduling attempt, lumos's conversion",
                         {.required = {"", "run_time", "wait_time", "submit_time", "gpu_num"},
                          .optional = {}},
                         Origin::kCalendar, ReadPhillyAttemptsRow));

}  // namespace
}  // namespace allot
