// sacct -P (--parsable2): Slurm's accounting, and squeue: what runs and waits now. Any of their
// columns in any order; rows of steps, of earlier runs of requeued jobs and of the components of
// heterogeneous jobs belong to their job. Tasks of an array that wait share a row.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "clients/slurm/resources.h"
#include "clients/slurm/value_text.h"
#include "core/gpu_parts.h"
#include "table/csv.h"
#include "table/row_error.h"
#include "workload/formats/sacct_header.h"
#include "workload/formats/sacct_rows.h"
#include "workload/formats/slurm_state.h"
#include "workload/formats/trace_builder.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

constexpr std::string_view kStep = "a step of a job (counted with it)";
constexpr std::string_view kSameRow = "the same row again";
constexpr std::string_view kEarlierRun = "an earlier run of a requeued or resized job";
constexpr std::string_view kHeldBack =
    "could not start yet: held, or waits for another job, a time, or a limit of its user or "
    "account";
constexpr std::string_view kWaitingTasks =
    "a task of an array that waits (a limit of tasks at once is not simulated)";
constexpr std::string_view kComponent =
    "a further component of a heterogeneous job (counted with it)";

constexpr std::string_view kClockShift =
    "start and end an hour off the run time, which counts: the clocks were changed meanwhile";

constexpr long long kMostNice = 2'147'483'645;  // of Slurm

// A row of a job that holds GPUs, held them or waits for them.
struct SacctRow {
  int line = 0;
  int component = 0;  // of a heterogeneous job
  Seconds start = 0;  // since 1970; 0: not known, kNever: it waits
  SacctState::Run run = SacctState::Run::kEnded;
  bool held = false;         // could start only later than it was submitted
  bool task = false;         // one of several of an array that wait
  bool early = false;        // started before it was submitted
  bool slices = false;       // held parts of GPUs beside whole ones
  bool clock_shift = false;  // its times are an hour off its length
  std::vector<std::string> types;
  Job job;  // submit since 1970, id without the component
};

class SacctReader {
 public:
  SacctReader(const CsvReader& row, SacctTenant tenant, TraceBuilder* builder)
      : row_(row), tenant_(tenant), builder_(*builder) {}

  bool saw_gpus() const { return saw_gpus_; }

  // The row as it counts, or nullopt after it was dropped.
  std::optional<SacctRow> Read() {
    SacctRow read;
    if (!ReadId(&read)) return builder_.Drop(kStep);
    const auto state = ParseSacctState(row_.Text("State"));
    if (!state) Fail("State", "a state of Slurm, like COMPLETED or FAILED");
    if (!ReadGpus(&read)) return std::nullopt;
    saw_gpus_ = true;
    Job& job = read.job;
    job.outcome = state->outcome;
    const bool waits = job.outcome == Outcome::kPending;
    std::optional<Seconds> start;
    if (!waits) start = Time("Start");  // squeue predicts the start of a waiting job
    if (!start && !waits && row_.Has("Start")) return builder_.Drop(kNeverStarted);
    if (!start && job.outcome == Outcome::kRunning) return builder_.Drop(kNotEnded);
    const auto submit = Time("Submit");
    if (!submit) Fail("Submit", "a time, like 2026-11-01T10:00:00");
    job.submit = *submit;
    const auto eligible = Time("Eligible");
    if (eligible && *eligible > *submit) {
      read.held = *eligible <= start.value_or(kNever);
      if (read.held) job.submit = *eligible;
    }
    if (waits) {
      if (IsHeldBack(eligible)) return builder_.Drop(kHeldBack);
      builder_.Saw(*submit);
    } else {
      job.duration = Length(start, &read.clock_shift);
      if (job.duration == 0 && job.ended()) {
        return builder_.Drop(row_.Has("Start") ? kNoRunTime : kNeverStarted);
      }
    }
    read.start = waits ? kNever : start.value_or(0);
    if (start) job.recorded_wait = std::max(0.0, *start - job.submit);
    read.early = start && *start < job.submit;
    read.run = state->run;
    job.user_estimate = TimeLimit();
    Workload& names = builder_.workload();
    job.user = names.users.Intern(row_.Text("User"));
    job.group = names.groups.Intern(row_.Text("JobName"));
    const bool by_account = tenant_ == SacctTenant::kAccount && row_.Has("Account");
    const bool queue = row_.Has("Partition") && !by_account;
    job.tenant = names.tenants.Intern(row_.Text(queue ? "Partition" : "Account"));
    job.account = names.accounts.InternSmall(row_.Text("Account"));
    job.qos = names.qos.InternSmall(row_.Text("QOS"));
    if (row_.Has("Nice"))
      job.priority = -static_cast<double>(row_.Integer("Nice", -kMostNice, kMostNice));
    return read;
  }

 private:
  [[noreturn]] void Fail(std::string_view column, std::string_view rule) const {
    throw RowError(fmt::format("'{}' must be {}", column, rule), Quoted(row_.Text(column)),
                   row_.place());
  }

  bool IsHeldBack(const std::optional<Seconds>& eligible) const {
    static constexpr std::string_view kReasons[] = {"JobHeldUser",
                                                    "JobHeldAdmin",
                                                    "JobHoldMaxRequeue",
                                                    "Dependency",
                                                    "DependencyNeverSatisfied",
                                                    "BeginTime"};
    if (row_.Has("Eligible") && !eligible) return true;
    std::string_view reason = row_.Text("Reason");
    if (reason.starts_with('(') && reason.ends_with(')')) {
      reason = reason.substr(1, reason.size() - 2);
    }
    // QOSMaxGRESPerUser, AssocGrpGRES and others of that kind: limits are not simulated.
    if (reason.starts_with("QOS") || reason.starts_with("Assoc")) return true;
    return std::find(std::begin(kReasons), std::end(kReasons), reason) != std::end(kReasons);
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

  // The columns that tell GPUs, what a job got before what it asked for.
  static constexpr const char* kGpuColumns[] = {"AllocTRES", "AllocGRES", "ReqTRES", "ReqGRES",
                                                "PerNodeGRES"};

  struct ColumnGpus {
    std::string_view text;
    bool tres = false;
    bool per_node = false;
    std::optional<SlurmGpus> gpus;  // nullopt: malformed
  };

  ColumnGpus GpusIn(std::string_view column) const {
    ColumnGpus in{.text = row_.Text(column),
                  .tres = column.ends_with("TRES"),
                  .per_node = column == "PerNodeGRES",
                  .gpus = {}};
    constexpr std::string_view kPerNode = "PER_NODE:", kPerJob = "PER_JOB:";
    if (in.text.starts_with(kPerJob)) in.text.remove_prefix(kPerJob.size());
    if (in.text.starts_with(kPerNode)) {
      in.text.remove_prefix(kPerNode.size());
      in.per_node = true;
    }
    in.gpus = in.tres ? ParseTresGpus(in.text) : ParseGresGpus(in.text);
    return in;
  }

  // In lower case, as Slurm's database keeps them, from the first column that names some.
  std::vector<std::string> GpuTypes() const {
    std::vector<std::string> types;
    for (const char* column : kGpuColumns) {
      if (!row_.Has(column) || !types.empty()) continue;
      const std::optional<SlurmGpus> gpus = GpusIn(column).gpus;
      if (!gpus) continue;
      for (const SlurmGpuType& type : gpus->types) {
        if (!type.part && !type.name.empty()) types.push_back(ToLower(type.name));
      }
    }
    return types;
  }

  // What it got, else what it asked for. False after it was dropped.
  bool ReadGpus(SacctRow* read) {
    bool parts = false;
    for (const char* column : kGpuColumns) {
      if (!row_.Has(column)) continue;
      const auto [text, tres, per_node, gpus] = GpusIn(column);
      double nodes = 1;
      if (per_node && row_.Has("NNodes")) {
        nodes = static_cast<double>(row_.Integer("NNodes", 1, kMostGpus));
      }
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
      read->types = GpuTypes();
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
  SacctTenant tenant_;
  TraceBuilder& builder_;
  bool saw_gpus_ = false;
};

// A row for each task that waits, where the job is several of an array: "123_[5-9%2]".
std::vector<SacctRow> SplitTasks(SacctRow row, const std::string& place) {
  std::vector<SacctRow> rows;
  const std::size_t bracket = row.job.id.find("_[");
  if (bracket == std::string::npos || row.job.outcome != Outcome::kPending) {
    rows.push_back(std::move(row));
    return rows;
  }
  const auto tasks = ParseArrayTasks(std::string_view(row.job.id).substr(bracket + 1));
  if (!tasks) {
    throw RowError("the tasks of an array must be like [5-9%2], [1,3,7] or [0-10:2]",
                   Quoted(row.job.id), place);
  }
  row.task = true;
  for (const std::int64_t task : *tasks) {
    rows.push_back(row);
    rows.back().job.id = fmt::format("{}_{}", row.job.id.substr(0, bracket), task);
  }
  return rows;
}

// The rows of one job number, in the order of their time.
void MakeJobs(std::vector<SacctRow> rows, TraceBuilder* builder) {
  std::stable_sort(rows.begin(), rows.end(), [](const SacctRow& a, const SacctRow& b) {
    return std::tie(a.job.submit, a.component, a.start) <
           std::tie(b.job.submit, b.component, b.start);
  });
  const auto drop = [builder](const SacctRow& row, std::string_view reason,
                              double gpu_seconds = 0) {
    builder->Whole(row.line, [&] { return builder->Drop(reason, gpu_seconds); });
  };
  const auto drop_run = [&drop](const SacctRow& row) {
    drop(row, kEarlierRun, row.job.gpus * row.job.duration);
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
        if ((row + 1)->start == row->start) {
          drop(*row, kSameRow);
        } else {
          drop_run(*row);
        }
      } else {
        last.push_back(&*row);
      }
    }
    const bool given_back = last.front()->run == SacctState::Run::kGivenBack;
    if (given_back && end != rows.end()) {
      for (const SacctRow* row : last) drop_run(*row);
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
      if (last.front()->task) builder->Adjust(kWaitingTasks);
      if (last.front()->early) builder->Adjust(kStartBeforeSubmit);
      if (last.front()->slices) builder->Adjust(kPartsBeside);
      if (last.front()->clock_shift) builder->Adjust(kClockShift);
      return std::optional<Job>(std::move(job));
    });
    run = end;
  }
}

// A name may hold the separator: where one column alone is free text, the surplus is its rest.
void JoinName(const SacctHeader& header, CsvReader* row) {
  static constexpr std::array<std::string_view, 11> kFreeTexts = {
      "JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir",
      "Extra",   "Reason",  "WCKey",        "Container",     "Licenses"};
  std::vector<std::string> free;
  for (const std::string& column : header.columns) {
    if (std::find(kFreeTexts.begin(), kFreeTexts.end(), column) != kFreeTexts.end()) {
      free.push_back(column);
    }
  }
  if (free.size() == 1) {
    const auto at = std::find(header.columns.begin(), header.columns.end(), free.front());
    row->JoinSurplus(static_cast<std::size_t>(at - header.columns.begin()));
    return;
  }
  throw RowError(fmt::format("a row must have {} fields as in the header (where a name holds '{}', "
                             "leave {} out of --format, or separate fields otherwise: "
                             "--delimiter='^')",
                             header.columns.size(), header.separator,
                             free.empty() ? "JobName" : Join(free, ", ")),
                 std::to_string(row->fields()), row->place());
}

int DetectSacct(std::string_view head) {
  const SacctHeader header = ReadSacctHeader(head);
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
               (TraceFormat{"sacct", "sacct -P: Slurm's accounting; squeue: what runs and waits",
                            DetectSacct,
                            [](std::string_view text, const std::string& path,
                               const ReadOptions& options, ReadReport* report) {
                              return ReadSacctText(text, path, options, report,
                                                   SacctTenant::kPartition);
                            }}));

}  // namespace

Workload ReadSacctText(std::string_view text, const std::string& path, const ReadOptions& options,
                       ReadReport* report, SacctTenant tenant) {
  const SacctHeader header = ReadSacctHeader(text);
  CheckSacctHeader(header, text, path);
  // Commas stand where somebody saved the table again as CSV: lists of resources are in quotes.
  const bool csv = header.separator == ',';
  CsvReader row = csv ? CsvReader(text, path, header.columns)
                      : CsvReader::WithoutHeader(text, path, header.columns, header.separator);
  TraceBuilder builder(path, options, report);
  return ReadSacctRows(header, row, path, &builder, report, tenant,
                       [&](const std::function<void()>& add) {
                         if (!csv) row.Next();  // the header
                         while (row.Next()) {
                           builder.Part(row.line(), [&] {
                             if (row.fields() > header.columns.size()) JoinName(header, &row);
                             row.CheckRow();
                             add();
                           });
                         }
                       });
}

Workload ReadSacctRows(const SacctHeader& header, const CsvReader& row, const std::string& path,
                       TraceBuilder* builder, ReadReport* report, SacctTenant tenant,
                       const std::function<void(const std::function<void()>& add)>& walk) {
  SacctReader reader(row, tenant, builder);
  std::map<std::string, std::size_t> place_of;  // of a job number in `jobs`
  std::vector<std::vector<SacctRow>> jobs;
  walk([&] {
    auto read = reader.Read();
    if (!read) return;
    read->line = row.line();
    std::vector<SacctRow> tasks = SplitTasks(*std::move(read), row.place());
    report->rows += static_cast<std::int64_t>(tasks.size()) - 1;  // each counts as a record
    for (SacctRow& one : tasks) {
      const auto [at, is_new] = place_of.emplace(one.job.id, jobs.size());
      if (is_new) jobs.emplace_back();
      jobs[at->second].push_back(std::move(one));
    }
  });
  if (!reader.saw_gpus() && report->rows > 0 && report->dropped() == report->rows) {
    throw DataError(
        "some job of a file of sacct must have GPUs, got none in {} rows ({}:1); Slurm keeps them "
        "where slurm.conf has AccountingStorageTRES=gres/gpu, and prints them with: {}",
        report->rows, path, ExportCommand(header));
  }
  for (std::vector<SacctRow>& rows : jobs) MakeJobs(std::move(rows), builder);
  NoteMissingColumns(header, report);
  return builder->FinishCalendar();
}

}  // namespace allot
