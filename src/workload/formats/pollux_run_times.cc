#include "workload/formats/pollux_run_times.h"

#include <map>
#include <tuple>

#include "workload/embedded_files.h"
#include "workload/formats/csv_jobs.h"

namespace allot {
namespace {

using Key = std::tuple<std::string, GpuCount, long long>;  // application, GPUs, total batch size

const std::map<Key, Seconds>& RunTimes() {
  static const auto times = [] {
    std::map<Key, Seconds> result;
    CsvReader csv(EmbeddedPolluxRunTimes(), "pollux_run_times.csv",
                  {"application", "gpus", "batch_size", "run_time_s"});
    while (csv.Next()) {
      result[{std::string(csv.Text("application")), ReadGpus(csv, "gpus"),
              csv.Integer("batch_size", 1, kLargestPolluxBatch)}] = csv.Number("run_time_s");
    }
    return result;
  }();
  return times;
}

}  // namespace

std::optional<Seconds> PolluxRunTime(const std::string& application, GpuCount gpus,
                                     long long batch) {
  const auto found = RunTimes().find({application, gpus, batch});
  return found == RunTimes().end() ? std::nullopt : std::optional(found->second);
}

}  // namespace allot
