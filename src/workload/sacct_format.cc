// sacct -P (--parsable2): Slurm's accounting. Any of its columns in any order; rows of steps, of
// earlier runs of requeued jobs and of the components of heterogeneous jobs belong to their job.

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "workload/csv.h"
#include "workload/gpu_parts.h"
#include "workload/job_rules.h"
#include "workload/row_error.h"
#include "workload/slurm_fields.h"
#include "workload/slurm_state.h"
#include "workload/trace_builder.h"

namespace allot {
namespace {

// Has all that is read here; -X leaves out the steps.
constexpr std::string_view kSacctCommand =
    "sacct --allusers --allocations --parsable2 --starttime 2026-10-01 --endtime 2026-11-01 "
    "--format=JobID,JobName,User,Account,Partition,State,Submit,Eligible,Start,End,ElapsedRaw,"
    "TimelimitRaw,ReqTRES,AllocTRES > sacct.txt";

constexpr std::string_view kStep = "a step of a job (counted with it)";
constexpr std::string_view kSameRow = "the same row again";
constexpr std::string_view kEarlierRun = "an earlier run of a requeued or resized job";
constexpr std::string_view kComponent =
    "a further component of a heterogeneous job (counted with it)";

constexpr std::string_view kClockShift =
    "start and end an hour off the run time, which counts: the clocks were changed meanwhile";

// A row that holds GPUs and ran to its end.
struct SacctRow {
  int line = 0;
  int component = 0;  // of a heterogeneous job
  Seconds start = 0;  // since 1970; 0: not known
  SacctState::Run run = SacctState::Run::kEnded;
  bool held = false;         // could start only later than it was submitted
  bool slices = false;       // held parts of GPUs beside whole ones
  bool clock_shift = false;  // its times are an hour off its length
  std::vector<std::string> types;
  Job job;  // submit since 1970, id without the component
};

// The header line, its separator and the names in it.
struct SacctHeader {
  char separator = '|';
  std::vector<std::string> columns;
};

SacctHeader HeaderOf(std::string_view text) {
  const std::string_view line = Trim(text.substr(0, text.find('\n')));
  SacctHeader header;
  const std::size_t other =
      line.find_first_not_of("\"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  if (other != std::string_view::npos) header.separator = line[other];
  for (const std::string_view column : Split(line, header.separator)) {
    const bool quoted = column.size() > 1 && column.front() == '"' && column.back() == '"';
    header.columns.emplace_back(quoted ? column.substr(1, column.size() - 2) : column);
  }
  return header;
}

bool HasColumn(const SacctHeader& header, std::string_view column) {
  return std::find(header.columns.begin(), header.columns.end(), column) != header.columns.end();
}

// Printed for people, in columns of fixed width that cut their fields.
bool HasFixedWidths(std::string_view text) {
  const std::size_t second = text.find('\n') + 1;
  return second > 0 && text.substr(second, 3) == "---";
}

void CheckHeader(const SacctHeader& header, std::string_view text, const std::string& path) {
  const auto fail = [&](const std::string& got) {
    throw DataError(
        "a file of sacct has the columns {} and {}, separated by '|', {} ({}:1); make "
        "one with: {}",
        "JobID, Submit, State, ElapsedRaw (or Elapsed, or Start and End)", "ReqTRES or AllocTRES",
        got, path, kSacctCommand);
  };
  if (HasFixedWidths(text)) fail("got a table of fixed widths, whose fields are cut");
  std::vector<std::string> missing;
  const auto need = [&](std::initializer_list<const char*> any) {
    const bool found = std::any_of(any.begin(), any.end(),
                                   [&](const char* column) { return HasColumn(header, column); });
    if (!found) missing.emplace_back(*any.begin());
  };
  need({"JobID", "JobIDRaw"});
  need({"Submit"});
  need({"State"});
  if (!HasColumn(header, "Start") || !HasColumn(header, "End")) need({"ElapsedRaw", "Elapsed"});
  need({"AllocTRES", "ReqTRES", "AllocGRES", "ReqGRES"});
  if (missing.empty()) return;
  const std::string first = text.empty() ? "" : Join(header.columns, ",").substr(0, 200);
  fail(fmt::format("got none that is {} in {}", Join(missing, ", "), Quoted(first)));
}

class SacctReader {
 public:
  SacctReader(const CsvReader& row, TraceBuilder* builder) : row_(row), builder_(*builder) {}

  bool saw_gpus() const { return saw_gpus_; }

  // The row as it counts, or nullopt after it was dropped.
  std::optional<SacctRow> Read() {
    SacctRow read;
    if (!ReadId(&read)) return builder_.Drop(kStep);
    const auto state = ParseSacctState(row_.Text("State"));
    if (!state) Fail("State", "a state of Slurm, like COMPLETED or FAILED");
    if (!ReadGpus(&read)) return std::nullopt;
    saw_gpus_ = true;
    const auto start = Time("Start");
    if (!start && row_.Has("Start")) return builder_.Drop(kNeverStarted);
    if (state->run == SacctState::Run::kGoesOn) {
      return builder_.Drop(row_.Text("State") == "PENDING" ? kNeverStarted : kNotEnded);
    }
    Job& job = read.job;
    const auto submit = Time("Submit");
    if (!submit) Fail("Submit", "a time, like 2026-11-01T10:00:00");
    job.submit = *submit;
    if (const auto eligible = Time("Eligible"); eligible && *eligible > *submit) {
      read.held = !start || *eligible <= *start;
      if (read.held) job.submit = *eligible;
    }
    job.duration = Length(start, &read.clock_shift);
    if (job.duration == 0) return builder_.Drop(row_.Has("Start") ? kNoRunTime : kNeverStarted);
    read.start = start.value_or(0);
    if (start) job.recorded_wait = std::max(0.0, *start - job.submit);
    read.run = state->run;
    job.outcome = state->outcome;
    job.user_estimate = TimeLimit();
    Workload& names = builder_.workload();
    job.user = names.users.Intern(row_.Text("User"));
    job.group = names.groups.Intern(row_.Text("JobName"));
    const bool queue = row_.Has("Partition");
    job.tenant = names.tenants.Intern(row_.Text(queue ? "Partition" : "Account"));
    return read;
  }

 private:
  [[noreturn]] void Fail(std::string_view column, std::string_view rule) const {
    throw RowError(fmt::format("'{}' must be {}", column, rule), Quoted(row_.Text(column)),
                   row_.place());
  }

  // "123", "123_4", "123_[5-9%2]", "123+1"; false for steps: "123.batch", "123_4.0".
  bool ReadId(SacctRow* read) const {
    const std::string_view column = row_.Has("JobID") ? "JobID" : "JobIDRaw";
    std::string_view text = row_.Text(column);
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    std::string_view rest = text.substr(digits);
    if (digits == 0 ||
        (!rest.empty() && std::string_view("._+").find(rest[0]) == std::string_view::npos)) {
      Fail(column, "a job of Slurm, like 123, 123_4, 123+1 or 123.batch");
    }
    if (text.find('.') != std::string_view::npos) return false;
    const std::size_t plus = text.find('+');
    if (plus != std::string_view::npos) {
      const auto component = ParseInteger(text.substr(plus + 1));
      if (!component || *component < 0 || *component > kMostGpus) {
        Fail(column, "a job of Slurm, like 123, 123_4, 123+1 or 123.batch");
      }
      read->component = static_cast<int>(*component);
      text = text.substr(0, plus);
    }
    read->job.id = text;
    return true;
  }

  // What it got, else what it asked for. False after it was dropped.
  bool ReadGpus(SacctRow* read) {
    bool parts = false;
    for (const char* column : {"AllocTRES", "AllocGRES", "ReqTRES", "ReqGRES"}) {
      if (!row_.Has(column)) continue;
      std::string_view text = row_.Text(column);
      const bool tres = std::string_view(column).ends_with("TRES");
      double nodes = 1;
      constexpr std::string_view kPerNode = "PER_NODE:", kPerJob = "PER_JOB:";
      if (text.starts_with(kPerJob)) text.remove_prefix(kPerJob.size());
      if (text.starts_with(kPerNode)) {
        text.remove_prefix(kPerNode.size());
        if (row_.Has("NNodes")) nodes = static_cast<double>(row_.Integer("NNodes", 1, kMostGpus));
      }
      const auto gpus = tres ? ParseTresGpus(text) : ParseGresGpus(text);
      if (!gpus || nodes * static_cast<double>(gpus->count) > kMostGpus) {
        Fail(column, fmt::format("resources, like {}, with at most {} GPUs",
                                 tres ? "cpu=8,gres/gpu=4" : "gpu:4", kMostGpus));
      }
      parts = parts || gpus->shards || gpus->slices > 0;
      if (gpus->count == 0 && gpus->slices > 0) break;
      if (gpus->count == 0) continue;
      read->slices = gpus->slices > 0;
      read->job.gpus = static_cast<GpuCount>(nodes) * static_cast<GpuCount>(gpus->count);
      if (tres) read->job.cpus = static_cast<float>(nodes * static_cast<double>(TresCpus(text)));
      for (const SlurmGpus::Type& type : gpus->types) {
        if (type.count > 0 && !type.name.empty()) read->types.push_back(type.name);
      }
      return true;
    }
    saw_gpus_ = saw_gpus_ || parts;
    builder_.Drop(parts ? kPartsOfGpus : kNoGpus);
    return false;
  }

  std::optional<Seconds> Time(std::string_view column) const {
    const std::string_view text = row_.Text(column);
    if (IsSlurmUnset(text)) return std::nullopt;
    const auto time = ParseSlurmTime(text);
    if (!time) {
      Fail(column,
           "a time, like 2026-11-01T10:00:00, seconds since 1970 (SLURM_TIME_FORMAT=%s) or "
           "Unknown");
    }
    return static_cast<Seconds>(*time);
  }

  // `clock_shift`: the clocks were changed between start and end. Slurm prints times without a
  // zone.
  Seconds Length(const std::optional<Seconds>& start, bool* clock_shift) const {
    constexpr Seconds kHour = 3600, kRounding = 2;
    const auto end = Time("End");
    Seconds length = 0;
    if (row_.Has("ElapsedRaw")) {
      length = static_cast<Seconds>(row_.Integer("ElapsedRaw", 0, 100'000'000'000));
    } else if (row_.Has("Elapsed")) {
      const auto span = ParseSlurmSpan(row_.Text("Elapsed"));
      if (!span) Fail("Elapsed", "a length, like 01:30:00 or 2-01:30:00");
      length = *span;
    } else {
      if (!start || !end) return 0;
      *clock_shift = *end<*start&& * end + kHour> * start;
      if (*end < *start && !*clock_shift) Fail("End", "not before Start");
      return *end - *start + (*clock_shift ? kHour : 0);
    }
    if (start && end && length > 0) {
      *clock_shift = std::abs(std::abs(*end - *start - length) - kHour) <= kRounding;
    }
    return length;
  }

  Seconds TimeLimit() const {
    for (const char* column : {"TimelimitRaw", "Timelimit"}) {
      const std::string_view text = row_.Text(column);
      const std::string lower = ToLower(text);
      if (IsSlurmUnset(text) || lower == "unlimited" || lower == "partition_limit") continue;
      if (const auto minutes = ParseInteger(text); minutes && *minutes >= 0) {
        return 60.0 * static_cast<double>(*minutes);
      }
      const auto span = ParseSlurmSpan(text);
      if (!span) Fail(column, "a length, like 01:30:00 or 2-01:30:00, or UNLIMITED");
      return *span;
    }
    return 0;
  }

  const CsvReader& row_;
  TraceBuilder& builder_;
  bool saw_gpus_ = false;
};

// The rows of one job number, in the order of their time.
void MakeJobs(std::vector<SacctRow> rows, TraceBuilder* builder) {
  std::stable_sort(rows.begin(), rows.end(), [](const SacctRow& a, const SacctRow& b) {
    return std::tie(a.job.submit, a.component, a.start) <
           std::tie(b.job.submit, b.component, b.start);
  });
  const auto drop = [builder](const SacctRow& row, std::string_view reason) {
    builder->Whole(row.line, [&] { return builder->Drop(reason); });
  };
  int uses = 0;  // of the job number
  for (auto run = rows.begin(); run != rows.end();) {
    const auto end = std::find_if(
        run, rows.end(), [&](const SacctRow& row) { return row.job.submit != run->job.submit; });
    // Of each component the last row of this submission counts.
    std::vector<const SacctRow*> last;
    for (auto row = run; row != end; ++row) {
      const bool again = row + 1 != end && (row + 1)->component == row->component;
      if (again) {
        drop(*row, (row + 1)->start == row->start ? kSameRow : kEarlierRun);
      } else {
        last.push_back(&*row);
      }
    }
    const bool given_back = last.front()->run == SacctState::Run::kGivenBack;
    if (given_back && end != rows.end()) {
      for (const SacctRow* row : last) drop(*row, kEarlierRun);
      run = end;
      continue;
    }
    ++uses;
    for (std::size_t i = 1; i < last.size(); ++i) drop(*last[i], kComponent);
    builder->Whole(last.front()->line, [&] {
      Job job = last.front()->job;
      std::vector<std::string> types;
      std::int64_t gpus = 0;
      job.cpus = 0;
      for (const SacctRow* row : last) {
        gpus += row->job.gpus;
        job.cpus += row->job.cpus;
        job.duration = std::max(job.duration, row->job.duration);
        for (const std::string& type : row->types) {
          if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
        }
      }
      job.gpus = static_cast<GpuCount>(std::min<std::int64_t>(gpus, kMostGpus + 1));
      job.gpu_types = builder->workload().gpu_types.Intern(Join(types, "|"));
      if (uses > 1) {
        job.id += fmt::format("#{}", uses);
        builder->Adjust("a job number that was used again");
      }
      if (last.front()->held) {
        builder->Adjust(
            "counted from when it could start (dependency, begin time, array limit), not from its "
            "submission");
      }
      if (last.size() > 1) builder->Adjust("components of a heterogeneous job as one job");
      if (last.front()->slices) builder->Adjust(kPartsBeside);
      if (last.front()->clock_shift) builder->Adjust(kClockShift);
      return std::optional<Job>(std::move(job));
    });
    run = end;
  }
}

void AddNotes(const SacctHeader& header, ReadReport* report) {
  std::vector<std::string> lost;
  if (!HasColumn(header, "Start")) lost.emplace_back("Start (how long jobs waited)");
  if (!HasColumn(header, "User")) lost.emplace_back("User");
  if (!HasColumn(header, "Partition") && !HasColumn(header, "Account")) {
    lost.emplace_back("Partition");
  }
  if (!HasColumn(header, "Timelimit") && !HasColumn(header, "TimelimitRaw")) {
    lost.emplace_back("TimelimitRaw (what backfill goes by)");
  }
  if (lost.empty()) return;
  report->notes.push_back(fmt::format("the file has no column {}; a complete one comes from: {}",
                                      Join(lost, ", "), kSacctCommand));
}

Workload ReadSacct(std::string_view text, const std::string& path, const ReadOptions& options,
                   ReadReport* report) {
  const SacctHeader header = HeaderOf(text);
  CheckHeader(header, text, path);
  // Commas stand where somebody saved the table again as CSV: lists of resources are in quotes.
  const bool csv = header.separator == ',';
  CsvReader row = csv ? CsvReader(text, path, header.columns)
                      : CsvReader::WithoutHeader(text, path, header.columns, header.separator);
  TraceBuilder builder(path, options, report);
  SacctReader reader(row, &builder);
  std::map<std::string, std::size_t> place_of;  // of a job number in `jobs`
  std::vector<std::vector<SacctRow>> jobs;
  if (!csv) row.Next();  // the header
  while (row.Next()) {
    builder.Part(row.line(), [&] {
      if (!csv && row.fields() != header.columns.size()) {
        throw RowError(fmt::format("a row must have {} fields as in the header (where a name holds "
                                   "'{}', leave JobName out of --format)",
                                   header.columns.size(), header.separator),
                       std::to_string(row.fields()), row.place());
      }
      row.CheckRow();
      auto read = reader.Read();
      if (!read) return;
      read->line = row.line();
      const auto [at, is_new] = place_of.emplace(read->job.id, jobs.size());
      if (is_new) jobs.emplace_back();
      jobs[at->second].push_back(*std::move(read));
    });
  }
  if (!reader.saw_gpus() && report->rows > 0 && report->dropped() == report->rows) {
    throw DataError(
        "some job of a file of sacct must have GPUs, got none in {} rows ({}:1); Slurm keeps them "
        "where slurm.conf has AccountingStorageTRES=gres/gpu, and prints them with: {}",
        report->rows, path, kSacctCommand);
  }
  for (std::vector<SacctRow>& rows : jobs) MakeJobs(std::move(rows), &builder);
  AddNotes(header, report);
  return builder.FinishCalendar();
}

int DetectSacct(std::string_view head) {
  const SacctHeader header = HeaderOf(head);
  if (header.columns.empty()) return 0;
  if (HasColumn(header, "JobID") || HasColumn(header, "JobIDRaw")) {
    static constexpr const char* kOthers[] = {"JobName",   "State",   "Submit",   "Partition",
                                              "AllocCPUS", "ReqTRES", "AllocTRES"};
    return std::any_of(std::begin(kOthers), std::end(kOthers),
                       [&](const char* column) { return HasColumn(header, column); })
               ? 100
               : 0;
  }
  return 0;
}

ALLOT_REGISTER(TraceFormat,
               (TraceFormat{"sacct", "sacct -P: Slurm's accounting", DetectSacct, ReadSacct}));

}  // namespace
}  // namespace allot
