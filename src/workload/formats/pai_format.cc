// Alibaba's PAI trace of 2020 (cluster-trace-gpu-v2020): pai_task_table.csv, with pai_job_table.csv
// beside it. The tasks of a job (workers, parameter servers) run together: its GPUs are those of
// all, its time is from the first start to the last end. Submission and user stand in the job
// table. Neither table has a header line; one that was put before it is taken.

#include <algorithm>
#include <unordered_map>

#include "core/strings.h"
#include "table/row_error.h"
#include "workload/formats/csv_jobs.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

const std::vector<std::string> kTaskColumns = {"job_name",   "task_name", "inst_num", "status",
                                               "start_time", "end_time",  "plan_cpu", "plan_mem",
                                               "plan_gpu",   "gpu_type"};
const std::vector<std::string> kJobColumns = {"job_name", "inst_id",    "user",
                                              "status",   "start_time", "end_time"};

enum class Status { kWaiting, kRunning, kTerminated, kFailed };

Status ReadStatus(const CsvReader& row) {
  const std::string_view text = row.Text("status");
  if (text == "Waiting" || text == "Ready") return Status::kWaiting;
  if (text == "Running") return Status::kRunning;
  if (text == "Terminated") return Status::kTerminated;
  if (text == "Failed") return Status::kFailed;
  throw RowError("'status' must be Waiting, Ready, Running, Terminated or Failed", Quoted(text),
                 row.place());
}

// A table with or without its header line.
CsvReader OpenTable(std::string_view text, const std::string& path,
                    const std::vector<std::string>& columns) {
  if (HeaderMatch(text, columns) == 100) return CsvReader(text, path, columns);
  return CsvReader::WithoutHeader(text, path, columns, ',');
}

struct Submission {
  Seconds time = 0;
  std::string user;
};

class PaiReader {
 public:
  PaiReader(std::string path, const ReadOptions& options, ReadReport* report)
      : builder_(std::move(path), options, report), options_(options), report_(report) {}

  // A malformed row of the job table leaves its job without submission, which Job() counts.
  void ReadJobTable() {
    ReadReport report;
    TraceBuilder builder(options_.companion_path, options_, &report);
    CsvReader csv = OpenTable(options_.companion_text, options_.companion_path, kJobColumns);
    while (csv.Next()) {
      builder.Part(csv.line(), [&] {
        csv.CheckRow();
        if (!csv.Has("start_time")) return;
        submissions_[std::string(csv.Text("job_name"))] = {csv.Number("start_time"),
                                                           std::string(csv.Text("user"))};
      });
    }
    for (const DropCount& drop : report.drops) {
      report_->adjusted.push_back(
          {"row of the job table not used: " + drop.reason, drop.rows, drop.example});
    }
  }

  Workload Read(CsvReader csv) {
    while (csv.Next()) builder_.Part(csv.line(), [&] { ReadTask(csv); });
    for (const Gang& gang : gangs_) builder_.Whole(gang.line, [&] { return MakeJob(gang); });
    return builder_.Finish();
  }

 private:
  struct Gang {  // the tasks of one job that use GPUs
    std::string job;
    int line = 0;  // of the first
    double gpus = 0;
    Seconds start = kNever;
    Seconds end = -kNever;
    bool waits = false, runs = false, failed = false;
  };

  void ReadTask(const CsvReader& row) {
    row.CheckRow();
    const Status status = ReadStatus(row);
    const auto instances =
        static_cast<double>(row.Has("inst_num") ? row.Whole("inst_num", 1, kMostGpus) : 1);
    const double percent = row.Has("plan_gpu") ? row.Number("plan_gpu") : 0;
    if (!(percent >= 0 && percent * instances <= 100.0 * kMostGpus)) {
      throw RowError(
          fmt::format("'plan_gpu' x 'inst_num' must be from 0 to {} %", 100LL * kMostGpus),
          fmt::format("{} x {}", percent, instances), row.place());
    }
    std::optional<Seconds> start, end;
    if (row.Has("start_time")) start = row.Number("start_time");
    if (row.Has("end_time")) end = row.Number("end_time");
    if (percent == 0) {
      builder_.Drop(kNoGpus);
      return;
    }
    const std::string name(row.Text("job_name"));
    const auto [entry, first] = gang_of_job_.emplace(name, gangs_.size());
    if (first) {
      gangs_.push_back({.job = name, .line = row.line()});
    } else {
      builder_.Drop("task of a job that an earlier row began: counted with it");
    }
    Gang& gang = gangs_[entry->second];
    gang.gpus += instances * percent / 100;
    if (start) gang.start = std::min(gang.start, *start);
    if (end) gang.end = std::max(gang.end, *end);
    gang.waits |= status == Status::kWaiting || !start;
    gang.runs |= status == Status::kRunning || !end;
    gang.failed |= status == Status::kFailed;
  }

  std::optional<Job> MakeJob(const Gang& gang) {
    if (gang.waits) return builder_.Drop(kNeverStarted);
    if (gang.runs) return builder_.Drop(kNotEnded);
    Job job;
    job.id = gang.job;
    job.submit = gang.start;
    job.duration = gang.end - gang.start;
    if (job.duration == 0) return builder_.Drop(kNoRunTime);
    if (gang.gpus > kMostGpus) {
      throw RowError(fmt::format("the tasks of a job must ask for at most {} GPUs", kMostGpus),
                     fmt::format("{}", gang.gpus), builder_.place());
    }
    job.gpus = WholeGpus(gang.gpus, builder_);
    job.outcome = gang.failed ? Outcome::kFailed : Outcome::kPassed;
    const auto submission = submissions_.find(gang.job);
    if (submission == submissions_.end()) {
      builder_.Adjust("no submission in the job table: submitted when its first task started");
    } else {
      job.submit = submission->second.time;
      job.user = builder_.workload().users.Intern(submission->second.user);
    }
    return job;
  }

  TraceBuilder builder_;
  const ReadOptions& options_;
  ReadReport* report_;
  std::unordered_map<std::string, Submission> submissions_;  // by job_name
  std::vector<Gang> gangs_;
  std::unordered_map<std::string, std::size_t> gang_of_job_;
};

Workload ReadPai(std::string_view text, const std::string& path, const ReadOptions& options,
                 ReadReport* report) {
  PaiReader reader(path, options, report);
  if (!options.companion_path.empty()) reader.ReadJobTable();
  return reader.Read(OpenTable(text, path, kTaskColumns));
}

int DetectPai(std::string_view head) {
  if (HeaderMatch(head, kTaskColumns) == 100) return 100;
  const auto fields = Split(Trim(head.substr(0, head.find('\n'))), ',');
  if (fields.size() != kTaskColumns.size()) return 0;
  for (const char* status : {"Waiting", "Ready", "Running", "Terminated", "Failed"}) {
    if (fields[3] == status) return 100;
  }
  return 0;
}

// ".../pai_task_table.csv" -> ".../pai_job_table.csv"
std::string JobTablePath(const std::string& path) {
  constexpr std::string_view kTask = "task_table";
  const std::size_t at = path.rfind(kTask);
  if (at == std::string::npos) return "";
  return path.substr(0, at) + "job_table" + path.substr(at + kTask.size());
}

ALLOT_REGISTER(TraceFormat,
               (TraceFormat{"pai", "Alibaba PAI 2020: pai_task_table.csv, pai_job_table.csv beside",
                            DetectPai, ReadPai, JobTablePath}));

}  // namespace
}  // namespace allot
