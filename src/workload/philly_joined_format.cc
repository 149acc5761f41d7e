// The joined Philly table: all jobs that got GPUs, one per row (traces/README.md tells its origin).
// A row's submit time stands twice, as calendar time and as an offset; both must agree.

#include <optional>

#include "core/strings.h"
#include "workload/calendar.h"
#include "workload/csv.h"
#include "workload/job_rules.h"
#include "workload/row_error.h"
#include "workload/trace_builder.h"

namespace allot {
namespace {

const std::vector<std::string>& Columns() {
  static const std::vector<std::string> columns = {"job_index",  "submit_time", "submit_offset_s",
                                                   "duration_s", "num_gpus",    "gpus_per_server",
                                                   "passed",     "vc"};
  return columns;
}

// "4+4" -> 8; nullopt when a part is not a positive whole number.
std::optional<long long> SumOfServers(std::string_view text) {
  long long sum = 0;
  for (const std::string_view part : Split(text, '+')) {
    const auto gpus = ParseInteger(part);
    if (!gpus || *gpus < 1 || *gpus > kMostGpus) return std::nullopt;
    sum += *gpus;
  }
  return sum;
}

class JoinedReader {
 public:
  JoinedReader(const CsvReader& csv, TraceBuilder* builder) : csv_(csv), builder_(builder) {}

  std::optional<Job> Read() {
    csv_.CheckRow();
    Job job;
    job.id = csv_.Text("job_index");
    job.submit = csv_.Calendar("submit_time");
    CheckOffset(job.submit);
    job.gpus = static_cast<GpuCount>(csv_.Integer("num_gpus", 1, kMostGpus));
    if (SumOfServers(csv_.Text("gpus_per_server")) != job.gpus) {
      throw RowError("'gpus_per_server' must add up to 'num_gpus'",
                     fmt::format("{} with {} GPUs", Quoted(csv_.Text("gpus_per_server")), job.gpus),
                     csv_.place());
    }
    job.duration = csv_.Number("duration_s");
    const bool passed = csv_.Integer("passed", 0, 1) == 1;
    // 0 stands for killed, failed or still running: which of them is not known.
    job.outcome = passed ? Outcome::kPassed : Outcome::kUnreported;
    if (job.duration == 0) return builder_->Drop("run time is 0 s");
    job.tenant = builder_->workload().tenants.Intern(csv_.Text("vc"));
    return job;
  }

 private:
  void CheckOffset(Seconds submit) {
    const Seconds base = submit - csv_.Number("submit_offset_s");
    if (!base_) base_ = base;
    if (base != *base_) {
      throw RowError("'submit_offset_s' must count from one time in all rows",
                     fmt::format("'{}' with '{}', {} s off", csv_.Text("submit_offset_s"),
                                 csv_.Text("submit_time"), *base_ - base),
                     csv_.place());
    }
  }

  const CsvReader& csv_;
  TraceBuilder* builder_;
  std::optional<Seconds> base_;  // calendar time of offset 0, from the first row
};

Workload Read(std::string_view text, const std::string& path, const ReadOptions& options,
              ReadReport* report) {
  CsvReader csv(text, path, Columns());
  TraceBuilder builder(path, options, report);
  JoinedReader reader(csv, &builder);
  while (csv.Next()) builder.Record(csv.line(), [&] { return reader.Read(); });
  return builder.FinishCalendar();
}

ALLOT_REGISTER(TraceFormat,
               (TraceFormat{
                   "philly-joined", "Philly jobs of all outcomes as one CSV, as shipped in traces/",
                   [](std::string_view head) { return HeaderMatch(head, Columns()); }, Read}));

}  // namespace
}  // namespace allot
