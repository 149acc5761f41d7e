// Workloads of the Pollux and Sia simulators. They hold no run times, as a job's work comes from
// its application's measured curves; what a job takes as it was requested is in
// traces/pollux_run_times.csv.

#include <map>
#include <tuple>

#include "workload/csv_jobs.h"
#include "workload/embedded_files.h"

namespace allot {
namespace {

constexpr long long kLargestBatch = 1'000'000;

using Key = std::tuple<std::string, GpuCount, long long>;  // application, GPUs, total batch size

const std::map<Key, Seconds>& RunTimes() {
  static const auto times = [] {
    std::map<Key, Seconds> result;
    CsvReader csv(EmbeddedPolluxRunTimes(), "pollux_run_times.csv",
                  {"application", "gpus", "batch_size", "run_time_s"});
    while (csv.Next()) {
      result[{std::string(csv.Text("application")), ReadGpus(csv, "gpus"),
              csv.Integer("batch_size", 1, kLargestBatch)}] = csv.Number("run_time_s");
    }
    return result;
  }();
  return times;
}

std::optional<Job> ReadPolluxRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("name");
  job.submit = row.Number("time");
  job.gpus = ReadGpus(row, "num_replicas");
  const std::string application(row.Text("application"));
  const auto time =
      RunTimes().find({application, job.gpus, row.Integer("batch_size", 1, kLargestBatch)});
  if (time == RunTimes().end()) {
    return builder.Drop("no run time is known for its application, GPUs and batch size");
  }
  job.duration = time->second;
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
