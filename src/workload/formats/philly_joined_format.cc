// The joined Philly table: all jobs that got GPUs, one per row (origin: traces/README.md).
// A row's submit time stands twice, as calendar time and as an offset; both must agree.

#include "table/row_error.h"
#include "workload/formats/csv_jobs.h"
#include "workload/formats/server_split.h"

namespace allot {
namespace {

class JoinedReader {
 public:
  std::optional<Job> operator()(const CsvReader& row, TraceBuilder& builder) {
    Job job;
    job.id = row.Text("job_index");
    job.submit = row.Calendar("submit_time");
    CheckOffset(row, job.submit);
    job.gpus = ReadGpus(row, "num_gpus");
    CheckServerSplit(row, "gpus_per_server", "num_gpus", job.gpus);
    job.duration = row.Number("duration_s");
    const bool passed = row.Integer("passed", 0, 1) == 1;
    const Outcome status = ReadPhillyStatus(row, "status");
    // 0 stands for killed, failed or still running: `status` may tell which of them.
    job.outcome = passed                       ? Outcome::kPassed
                  : status == Outcome::kPassed ? Outcome::kUnreported
                                               : status;
    if (job.duration == 0) return builder.Drop(kNoRunTime);
    Workload& names = builder.workload();
    job.tenant = names.tenants.Intern(row.Text("vc"));
    job.user = names.users.Intern(row.Text("user"));
    return job;
  }

 private:
  void CheckOffset(const CsvReader& row, Seconds submit) {
    const Seconds base = submit - row.Number("submit_offset_s");
    if (!base_) base_ = base;
    if (base != *base_) {
      throw RowError("'submit_offset_s' must count from one time in all rows",
                     fmt::format("'{}' with '{}', {} s off", row.Text("submit_offset_s"),
                                 row.Text("submit_time"), *base_ - base),
                     row.place());
    }
  }

  std::optional<Seconds> base_;  // calendar time of offset 0, from the first row
};

ALLOT_REGISTER(TraceFormat,
               CsvFormat("philly-joined",
                         "Philly jobs of all outcomes as one CSV, as shipped in traces/",
                         {.required = {"job_index", "submit_time", "submit_offset_s", "duration_s",
                                       "num_gpus", "gpus_per_server", "passed", "vc"},
                          .optional = {"user", "status"}},
                         Origin::kCalendar,
                         std::function<RowReader()>([] { return JoinedReader(); })));

}  // namespace
}  // namespace allot
