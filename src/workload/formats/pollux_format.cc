// Workloads of the Pollux and Sia simulators. They hold no run times, as a job's work comes from
// its application's measured curves; what a job takes as it was requested is in
// traces/pollux_run_times.csv.

#include "workload/formats/csv_jobs.h"
#include "workload/formats/pollux_run_times.h"

namespace allot {
namespace {

std::optional<Job> ReadPolluxRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("name");
  job.submit = row.Number("time");
  job.gpus = ReadGpus(row, "num_replicas");
  const std::string application(row.Text("application"));
  const auto time =
      PolluxRunTime(application, job.gpus, row.Integer("batch_size", 1, kLargestPolluxBatch));
  if (!time) {
    return builder.Drop("no run time is known for its application, GPUs and batch size");
  }
  job.duration = *time;
  job.group = builder.workload().groups.Intern(application);
  return job;
}

ALLOT_REGISTER(TraceFormat,
               CsvFormat("pollux", "workloads of the Pollux and Sia simulators",
                         {.required = {"name", "time", "application", "num_replicas", "batch_size"},
                          .optional = {}},
                         Origin::kTrace, ReadPolluxRow));

}  // namespace
}  // namespace allot
