// Any table, by what the user says of its columns (--columns) or else by what their names and
// values suggest. Never detected by itself: a guess must be seen first (allot trace inspect).

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/strings.h"
#include "table/column_guess.h"
#include "table/row_error.h"
#include "table/table_columns.h"
#include "workload/formats/csv_jobs.h"
#include "workload/formats/trace_builder.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

// How jobs end, in the words of schedulers and of people.
std::optional<Outcome> OutcomeOfWord(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kGood = {"passed",    "pass",       "success",
                                                            "succeeded", "successful", "completed",
                                                            "complete",  "done",       "finished"};
  static constexpr std::array<std::string_view, 11> kBad = {
      "failed",    "fail",          "failure", "error",    "timeout",  "timedout",
      "node_fail", "out_of_memory", "oom",     "deadline", "boot_fail"};
  static constexpr std::array<std::string_view, 11> kEnded = {
      "killed",     "cancelled", "canceled", "cancel",  "stopped", "aborted",
      "terminated", "preempted", "evicted",  "deleted", "revoked"};
  static constexpr std::array<std::string_view, 8> kOpen = {"unreported", "running",   "pending",
                                                            "queued",     "suspended", "requeued",
                                                            "completing", "active"};
  const std::string lower = ToLower(text);
  const std::string_view word = std::string_view(lower).substr(0, lower.find(' '));
  const auto among = [&](const auto& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (among(kGood)) return Outcome::kPassed;
  if (among(kBad)) return Outcome::kFailed;
  if (among(kEnded)) return Outcome::kKilled;
  if (among(kOpen)) return Outcome::kUnreported;
  return std::nullopt;
}

class TableJobs {
 public:
  TableJobs(const MappedColumns& columns, TraceBuilder& builder)
      : columns_(columns), builder_(builder) {}

  std::optional<Job> Read(const CsvReader& row) {
    Job job;
    job.id = columns_.Has("id") ? std::string(columns_.Text(row, "id")) : builder_.RowId();
    const auto submit = columns_.Time(row, "submit");
    const double gpus = columns_.Number(row, "gpus").value_or(0);
    if (gpus == 0) return builder_.Drop(kNoGpus);
    if (!submit) return builder_.Drop("no submit time");
    job.submit = *submit;
    job.gpus = Gpus(row, "gpus", gpus);
    if (const auto start = columns_.Time(row, "start"); start && columns_.AlikeTimes()) {
      const Seconds wait = builder_.WaitFrom(*submit, *start);
      if (wait <= kLongestTime) job.recorded_wait = wait;
    }
    const auto duration = Duration(row, job.gpus);
    if (!duration) return std::nullopt;
    job.duration = *duration;
    if (job.duration == 0) return builder_.Drop(kNoRunTime);
    if (const auto least = columns_.Number(row, "min_gpus")) {
      job.min_gpus = Gpus(row, "min_gpus", *least);
    }
    if (const auto most = columns_.Number(row, "max_gpus")) {
      job.max_gpus = Gpus(row, "max_gpus", *most);
    }
    job.work = columns_.Number(row, "work").value_or(0);
    job.priority = columns_.Number(row, "priority").value_or(0);
    job.deadline = columns_.Time(row, "deadline").value_or(kNever);
    job.user_estimate = Limit(row);
    job.gpu_memory_gb = static_cast<float>(columns_.Number(row, "gpu_memory_gb").value_or(0));
    job.memory_gb = static_cast<float>(columns_.Number(row, "memory_gb").value_or(0));
    job.cpus = static_cast<float>(columns_.Number(row, "cpus").value_or(0));
    job.outcome = EndOf(row);
    Workload& names = builder_.workload();
    job.model = names.models.Intern(columns_.Text(row, "model"));
    job.tenant = names.tenants.Intern(columns_.Text(row, "tenant"));
    job.user = names.users.Intern(columns_.Text(row, "user"));
    job.group = names.groups.Intern(columns_.Text(row, "group"));
    job.gpu_types = names.gpu_types.Intern(columns_.Text(row, "gpu_types"));
    job.duration_type = names.gpu_types.InternSmall(columns_.Text(row, "duration_type"));
    return job;
  }

 private:
  GpuCount Gpus(const CsvReader& row, std::string_view meaning, double gpus) {
    if (!(gpus > 0 && gpus <= kMostGpus)) {
      throw RowError(fmt::format("{} must be from 0 to {}", meaning, kMostGpus),
                     fmt::format("{}", gpus), row.place());
    }
    return WholeGpus(gpus, builder_);
  }

  // nullopt after a Drop.
  std::optional<Seconds> Duration(const CsvReader& row, GpuCount gpus) {
    if (columns_.Has("duration")) {
      const auto duration = columns_.Length(row, "duration");
      return duration ? duration : builder_.Drop("no run time");
    }
    const auto start = columns_.Time(row, "start");
    const auto end = columns_.Time(row, "end");
    if (!start) return builder_.Drop(kNeverStarted);
    if (!end) return builder_.DropNotEnded(*start, gpus);
    if (*end < *start) {
      throw RowError("a job must not end before it starts",
                     fmt::format("{} s before", *start - *end), row.place());
    }
    return *end - *start;
  }

  Seconds Limit(const CsvReader& row) {
    const std::string word = ToLower(columns_.Text(row, "limit"));
    if (word == "unlimited" || word == "infinite" || word == "partition_limit") return 0;
    return columns_.Length(row, "limit").value_or(0);
  }

  Outcome EndOf(const CsvReader& row) {
    const std::string_view text = columns_.Text(row, "outcome");
    if (text.empty()) return Outcome::kUnreported;
    const auto outcome = OutcomeOfWord(text);
    if (!outcome) builder_.Adjust("a word for its end that is not known: not reported");
    return outcome.value_or(Outcome::kUnreported);
  }

  const MappedColumns& columns_;
  TraceBuilder& builder_;
};

bool IsEmptyRow(const CsvReader& row) {
  for (std::size_t i = 0; i < row.fields(); ++i) {
    if (!row.At(i).empty()) return false;
  }
  return true;
}

Workload ReadTable(std::string_view text, const std::string& path, const ReadOptions& options,
                   ReadReport* report) {
  const TableFile table({std::string(text)}, path);
  const ColumnMap map =
      options.columns.empty() ? GuessColumns(table).map : ColumnMap::Parse(options.columns);
  if (const auto lacks = map.Lacks(); !lacks.empty()) {
    const std::string rule = fmt::format("--columns must say {}", Join(lacks, " and "));
    const std::string got =
        fmt::format("{} ({})", Join(table.header(), ", "), table.place_of_header());
    if (options.columns.empty()) throw DataError("{}; the table has {}", rule, got);
    throw UsageError("{}; the table has {}", rule, got);
  }
  const MappedColumns columns(table, map);
  report->columns = map.ToString();
  std::vector<bool> used(table.header().size());
  for (const auto& [meaning, column] : map.columns()) {
    for (const auto at : PositionsOf(meaning, column, table.header(), path)) used[at] = true;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::string& name = table.header()[i];
    if (!used[i])
      report->ignored_columns.push_back(name.empty() ? fmt::format("#{}", i + 1) : name);
  }
  TraceBuilder builder(path, options, report);
  builder.ExpectLines(text);
  TableJobs jobs(columns, builder);
  CsvReader rows = table.Rows();
  while (rows.Next()) {
    builder.Record(rows.line(), [&]() -> std::optional<Job> {
      if (IsEmptyRow(rows)) return builder.Drop("an empty row");
      rows.CheckRow();
      return jobs.Read(rows);
    });
  }
  return columns.calendar() ? builder.FinishCalendar() : builder.Finish();
}

TraceFormat MakeTableFormat() {
  TraceFormat format;
  format.id = std::string(kTableFormat);
  format.summary = "any table with a line of column names: --columns says what they mean";
  format.detect = [](std::string_view) { return 0; };
  format.read = ReadTable;
  format.any_table = true;
  return format;
}

ALLOT_REGISTER(TraceFormat, MakeTableFormat());

}  // namespace
}  // namespace allot
