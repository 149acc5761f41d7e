// Workloads of the Pollux and Sia simulators as jobs that train applications (docs/goodput.md): the
// work comes from the application, jobs may have any number of GPUs, and what their users asked for
// is remembered. For catalogues of applications; `pollux` reads the same files as jobs with run
// times.

#include <algorithm>

#include "core/strings.h"
#include "table/row_error.h"
#include "workload/formats/csv_jobs.h"
#include "workload/formats/pollux_run_times.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

constexpr Seconds kUsualRunTime = 3600;

std::optional<Job> ReadTrainingRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("name");
  job.submit = row.Number("time");
  job.gpus = ReadGpus(row, "num_replicas");
  const long long batch = row.Integer("batch_size", 1, kLargestPolluxBatch);
  job.batch = static_cast<float>(batch);
  const std::string application(row.Text("application"));
  if (const auto known = PolluxRunTime(application, job.gpus, batch)) {
    job.duration = *known;
  } else {
    builder.Adjust("its run time as requested is not known: an hour");
    job.duration = kUsualRunTime;
  }
  const std::string_view category = row.Has("category") ? row.Text("category") : "adaptive";
  if (category != "adaptive" && category != "scale-gpus" && category != "rigid") {
    throw RowError("'category' must be adaptive, scale-gpus or rigid", category, row.place());
  }
  job.keeps_batch = category != "adaptive";
  if (category != "rigid") {
    job.min_gpus = 1;
    job.max_gpus = kMostGpus;
  }
  job.model = builder.workload().models.Intern(application);
  job.group = builder.workload().groups.Intern(application);
  return job;
}

ALLOT_REGISTER(TraceFormat, ([] {
                 TraceFormat format = CsvFormat(
                     "pollux-training", "the same as jobs that train applications (--catalogue)",
                     {.required = {"name", "time", "application", "num_replicas", "batch_size"},
                      .optional = {"category"}},
                     Origin::kTrace, ReadTrainingRow);
                 format.detect = [](std::string_view head) {
                   const auto columns = Split(Trim(head.substr(0, head.find('\n'))), ',');
                   const auto has = [&columns](std::string_view name) {
                     return std::find(columns.begin(), columns.end(), name) != columns.end();
                   };
                   return has("application") && has("num_replicas") && has("category") ? 100 : 0;
                 };
                 format.variant_of = "pollux";
                 return format;
               }()));

}  // namespace
}  // namespace allot
