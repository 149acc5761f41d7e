// Philly jobs of all outcomes in RFold's conversion, philly_trace.csv: arrivals count from the
// log's first job.

#include "workload/calendar.h"
#include "workload/formats/csv_jobs.h"
#include "workload/formats/server_split.h"

namespace allot {
namespace {

constexpr std::string_view kFirstArrival = "2017-08-14 23:27:00";  // of the original log

std::optional<Job> ReadPhillyJobsRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("#job id");
  job.submit =
      static_cast<Seconds>(*ParseCalendar(kFirstArrival)) + row.Number("arrival time (sec)");
  job.gpus = ReadGpus(row, "size");
  CheckServerSplit(row, "shape", "size", job.gpus);
  job.duration = row.Number("duration (sec)");
  if (job.duration == 0) return builder.Drop(kNoRunTime);
  return job;
}

ALLOT_REGISTER(TraceFormat,
               CsvFormat("philly-jobs", "Philly jobs of all outcomes, RFold's philly_trace.csv",
                         {.required = {"#job id", "arrival time (sec)", "topology", "shape", "size",
                                       "duration (sec)"},
                          .optional = {}},
                         Origin::kCalendar, ReadPhillyJobsRow));

}  // namespace
}  // namespace allot
