// allot account: GPU hours by user and account, from a daemon's journal or from a trace.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

#include "cli/command.h"
#include "cli/state_folder.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "live/state/journal_text.h"
#include "metrics/csv.h"
#include "metrics/humanise.h"
#include "metrics/table.h"
#include "workload/calendar.h"
#include "workload/formats/sacct_rows.h"
#include "workload/live_journal.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

struct AccountOptions {
  std::string source;
  std::string format = "auto";
  std::string state;
  std::string from;
  std::string to;
  bool csv = false;
};

// Sums GPU time in a window by account and user. Times are seconds since the origin of the source.
class GpuHours {
 public:
  struct Sum {
    std::set<std::string> jobs;
    double hours = 0;
  };

  GpuHours(Seconds from, Seconds to) : from_(from), to_(to) {}

  // `gpu_seconds`, used evenly from `begin` to `end`, count as far as they lie in the window.
  void Add(const std::string& account, const std::string& user, const std::string& job,
           Seconds begin, Seconds end, double gpu_seconds) {
    const Seconds inside = std::min(end, to_) - std::max(begin, from_);
    if (!(gpu_seconds > 0) || !(inside > 0)) return;
    Sum& sum = sums_[{account, user}];
    sum.jobs.insert(job);
    sum.hours += gpu_seconds / 3600 * inside / (end - begin);
  }

  const std::map<std::pair<std::string, std::string>, Sum>& sums() const { return sums_; }

 private:
  Seconds from_;
  Seconds to_;
  std::map<std::pair<std::string, std::string>, Sum> sums_;
};

GpuHours HoursInWindow(const AccountOptions& o, const Workload& calendar) {
  const Seconds from = o.from.empty() ? -kNever : ParseWhen(calendar, o.from);
  const Seconds to = o.to.empty() ? kNever : ParseWhen(calendar, o.to);
  if (from >= to) throw UsageError("--from must lie before --to, got {} and {}", o.from, o.to);
  return {from, to};
}

// Follows the GPU time of each job through the records of a journal, which state it as a total of
// the job, every half minute (record::Account).
class JournalHours {
 public:
  explicit JournalHours(GpuHours* hours) : hours_(*hours) {}

  // `origin`: Unix time of the window's 0.
  void Read(const std::vector<TimedRecord>& records, double origin) {
    for (const TimedRecord& one : records) {
      if (const auto* serve = std::get_if<record::Serve>(&one.record))
        shift_ = serve->origin - origin;
      now_ = one.at + shift_;
      std::visit([this](const auto& record) { Note(record); }, one.record);
    }
  }

 private:
  struct JobUse {
    std::string account;
    std::string user;
    std::string key;  // of the job: a name may be used again
    double submit = 0;
    Seconds until = 0;
    double gpu_seconds = 0;
  };

  void Note(const auto& /*record*/) {}  // of any other kind
  void Note(const record::NewJob& record) {
    JobUse& job = jobs_[record.asked.id];
    if (!job.key.empty() && job.submit == record.asked.submit) return;
    job = {.account = record.asked.payer(),
           .user = record.asked.user,
           .key = fmt::format("{}@{}", record.asked.id, record.asked.submit),
           .submit = record.asked.submit,
           .until = record.submit + shift_};
  }
  void Note(const record::Account& record) { Used(record.job, record.gpu_seconds); }
  void Note(const record::Over& record) { Used(record.job, record.gpu_seconds); }
  void Note(const record::Kept& record) { Used(record.job, record.gpu_seconds); }

  void Used(const std::string& name, double gpu_seconds) {
    const auto found = jobs_.find(name);
    if (found == jobs_.end()) return;
    JobUse& job = found->second;
    hours_.Add(job.account, job.user, job.key, job.until, now_, gpu_seconds - job.gpu_seconds);
    job.gpu_seconds = std::max(job.gpu_seconds, gpu_seconds);
    job.until = now_;
  }

  GpuHours& hours_;
  std::map<std::string, JobUse> jobs_;  // by name
  Seconds shift_ = 0;
  Seconds now_ = 0;
};

std::vector<TimedRecord> RecordsIn(const std::string& path) {
  const std::string text = ReadTextFile(path);
  JournalText read = ReadJournalText(text);
  if (!read.damage.empty()) {
    throw DataError("{}:{}: {}; 'allot journal repair' leaves such lines out", path,
                    read.damage.front().line, read.damage.front().why);
  }
  return std::move(read.records);
}

GpuHours OfJournal(const AccountOptions& o, const std::string& path,
                   std::vector<std::string>* notes) {
  std::vector<std::vector<TimedRecord>> files;
  const std::string archive = JournalArchiveOf(path);
  const bool archived = !archive.empty() && std::filesystem::exists(archive);
  if (archived) files.push_back(RecordsIn(archive));
  files.push_back(RecordsIn(path));
  std::optional<double> origin;
  bool renewed = false;
  for (const auto& records : files) {
    for (const TimedRecord& one : records) {
      const auto* serve = std::get_if<record::Serve>(&one.record);
      if (serve != nullptr && !origin) origin = serve->origin;
      renewed = renewed || std::holds_alternative<record::Renewed>(one.record);
    }
  }
  if (renewed && !archived) {
    notes->push_back(fmt::format(
        "no {} beside the journal: jobs that ended before it was made anew are not counted",
        kJournalArchiveName));
  }
  Workload calendar;
  if (origin) calendar.origin = FormatCalendar(static_cast<std::int64_t>(std::floor(*origin)));
  GpuHours hours = HoursInWindow(o, calendar);
  JournalHours journal(&hours);
  for (const auto& records : files) journal.Read(records, std::floor(origin.value_or(0)));
  return hours;
}

// As ReadTrace, but of sacct by account where rows have a partition, too.
Workload ReadJobs(const AccountOptions& o, const std::string& format, ReadReport* report) {
  if (format != "sacct" && format != "sacct-json") return ReadTrace(o.source, format, {}, report);
  const DecodedText text = TraceText(o.source);
  const auto read = format == "sacct" ? ReadSacctText : ReadSacctJson;
  return read(text.text, o.source, {}, report, SacctTenant::kAccount);
}

GpuHours OfTrace(const AccountOptions& o, const std::string& format,
                 std::vector<std::string>* notes) {
  ReadReport report;
  const Workload trace = ReadJobs(o, format, &report);
  GpuHours hours = HoursInWindow(o, trace);
  for (const Job& job : trace.jobs) {
    if (job.outcome == Outcome::kPending) continue;
    const Seconds start = std::isnan(job.recorded_start()) ? job.submit : job.recorded_start();
    const Seconds ran = trace.RecordedRunTime(job);
    hours.Add(trace.tenants[job.tenant], trace.users[job.user], job.id, start, start + ran,
              job.gpus * ran);
  }
  for (const DropCount& drop : report.LargestDrops()) {
    if (!(drop.gpu_hours > 0)) continue;
    notes->push_back(fmt::format("{} GPU hours not counted: {} ({})", HumanHours(drop.gpu_hours),
                                 drop.reason, Counted(drop.rows, "row")));
  }
  return hours;
}

constexpr std::string_view kJournalFormat = "live-journal";

// Of the file, unless the user names one.
std::string FormatOf(const AccountOptions& o) {
  if (o.format != "auto") return o.format;
  const TraceFormat* const found = DetectTraceFormat(TraceText(o.source).text);
  return found == nullptr ? o.format : found->id;
}

void Print(const GpuHours& hours, const std::vector<std::string>& notes, const AccountOptions& o,
           const GlobalOptions& globals) {
  struct Row {
    std::string account;
    std::string user;
    std::int64_t jobs = 0;
    double hours = 0;
  };
  std::vector<Row> rows;
  double total = 0;
  std::int64_t jobs = 0;
  for (const auto& [who, sum] : hours.sums()) {
    rows.push_back({who.first, who.second, std::ssize(sum.jobs), sum.hours});
    total += sum.hours;
    jobs += std::ssize(sum.jobs);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.hours > b.hours; });
  if (globals.json) {
    nlohmann::ordered_json json{{"gpu_hours", total}, {"rows", nlohmann::json::array()}};
    for (const Row& row : rows) {
      json["rows"].push_back({{"account", row.account},
                              {"user", row.user},
                              {"jobs", row.jobs},
                              {"gpu_hours", row.hours}});
    }
    if (!notes.empty()) json["notes"] = notes;
    std::printf("%s\n", JsonText(json).c_str());
    return;
  }
  if (!globals.quiet) {
    for (const std::string& note : notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  }
  if (o.csv) {
    std::string text = "account,user,jobs,gpu_hours\n";
    for (const Row& row : rows) {
      text += fmt::format("{},{},{},{}\n", CsvField(row.account), CsvField(row.user), row.jobs,
                          row.hours);
    }
    std::fputs(text.c_str(), stdout);
    return;
  }
  using Align = TextTable::Align;
  TextTable table(
      {{"account", Align::kLeft}, {"user", Align::kLeft}, {"jobs"}, {"GPU hours"}, {"share"}});
  const auto name = [](const std::string& text) { return text.empty() ? "-" : Printable(text); };
  for (const Row& row : rows) {
    table.AddRow({name(row.account), name(row.user), std::to_string(row.jobs),
                  HumanHours(row.hours), HumanShare(row.hours / total)});
  }
  table.AddRow({"all", "", std::to_string(jobs), HumanHours(total), ""});
  std::fputs(table.ToText().c_str(), stdout);
}

int ShowAccount(AccountOptions o, const GlobalOptions& globals) {
  if (o.csv && globals.json) throw UsageError("--csv and --json are two formats: give one");
  if (!o.source.empty() && !o.state.empty()) {
    throw UsageError("one source: '{}' or the daemon's folder --state {}", o.source, o.state);
  }
  const bool of_daemon = o.source.empty();
  if (of_daemon) o.source = FindStateFolder(o.state) / kJournalName;
  std::vector<std::string> notes;
  const std::string format = of_daemon ? std::string(kJournalFormat) : FormatOf(o);
  const GpuHours hours =
      format == kJournalFormat ? OfJournal(o, o.source, &notes) : OfTrace(o, format, &notes);
  Print(hours, notes, o, globals);
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "account", "GPU hours by user and account, from a daemon's journal or a trace",
                   [](CommandLine& line, const GlobalOptions& globals) {
                     auto o = std::make_shared<AccountOptions>();
                     line.Option("source,-w,--workload", o->source,
                                 "journal.jsonl of a daemon, or a trace such as an export of sacct")
                         .DefaultText("the journal of the daemon's folder");
                     line.Option("--format", o->format, "trace format, see 'allot list formats'")
                         .ShowDefault();
                     line.Option("--state", o->state, kStateHelp);
                     line.Option("--from", o->from,
                                 "count from here: a date (of a journal: UTC), or a time after the "
                                 "beginning of the source");
                     line.Option("--to", o->to, "count up to here");
                     line.Flag("--csv", o->csv, "print CSV instead of a table");
                     return [o, &globals] { return ShowAccount(*o, globals); };
                   }}));

}  // namespace
}  // namespace allot
