#include "workload/foreign_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/shell_text.h"
#include "core/strings.h"
#include "table/byte_order_mark.h"
#include "table/table_dialect.h"

namespace allot {
namespace {

constexpr std::size_t kLinesToJudge = 20;

// Makes a table of the records of ended jobs.
constexpr std::string_view kPbsAwk =
    R"(awk -F';' 'BEGIN { print "id,submit,start,end,gpus,limit,user,queue" } $2 == "E" { )"
    R"(split("", f); n = split($4, pairs, " "); for (i = 1; i <= n; i++) { )"
    R"(at = index(pairs[i], "="); f[substr(pairs[i], 1, at - 1)] = substr(pairs[i], at + 1) } )"
    R"(print $3 "," f["ctime"] "," f["start"] "," f["end"] "," f["Resource_List.ngpus"] "," )"
    R"(f["Resource_List.walltime"] "," f["user"] "," f["queue"] }')";
constexpr std::string_view kPbsLogs = "$PBS_HOME/server_priv/accounting/2026*";

// By accounting(5).
constexpr std::string_view kSgeAwk =
    R"(awk -F: 'BEGIN { print "id,submit,start,end,gpus,user,queue" } !/^#/ { gpus = 0; )"
    R"(if (match($40, /gpu=[0-9]+/)) gpus = substr($40, RSTART + 4, RLENGTH - 4) * )"
    R"(($35 > 1 ? $35 : 1); print $6 "," $9 "," $10 "," $11 "," gpus "," $4 "," $1 }')";
constexpr std::string_view kSgeLog = "$SGE_ROOT/$SGE_CELL/common/accounting";

constexpr std::string_view kLsfCommand =
    R"(bjobs -a -u all -o "jobid user queue stat submit_time start_time finish_time gpu_num )"
    R"(run_time delimiter=','" > jobs.csv (with LSB_DISPLAY_YEAR=Y, so that times have their )"
    "year)";

constexpr std::string_view kCondorCommand =
    "condor_history -af:h, ClusterId ProcId Owner QDate JobStartDate CompletionDate RequestGpus "
    "RemoteWallClockTime > jobs.csv";

constexpr std::string_view kSlurmCommand =
    "sacct --allusers --allocations --parsable2 --starttime 2026-10-01 --format=JobID,JobName,User,"
    "Account,Partition,State,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,ReqTRES,AllocTRES "
    "> sacct.txt";

constexpr std::string_view kKubectlCommand =
    "kubectl get jobs,pods --all-namespaces -o json > jobs.json";

constexpr std::string_view kThenInspect = "; then: allot trace inspect ";

std::vector<std::string_view> FirstLines(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size() && lines.size() < kLinesToJudge;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!Trim(line).empty()) lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

bool AnyOf(const std::vector<std::string_view>& lines, auto fits) {
  return std::any_of(lines.begin(), lines.end(), fits);
}

// Whether all `words` stand among those of the line, with capitals as they are.
bool HasWords(std::string_view line, std::initializer_list<std::string_view> words) {
  const auto there = SplitAtBlanks(line);
  return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::find(there.begin(), there.end(), word) != there.end();
  });
}

bool LooksLikeYaml(const std::vector<std::string_view>& lines) {
  return AnyOf(lines, [](std::string_view line) { return line.starts_with("apiVersion:"); });
}

// "10/01/2026 00:00:00;S;101.srv;user=ann ..."
bool IsPbsRecord(std::string_view line) {
  const auto fields = Split(line, ';');
  return fields.size() >= 4 && fields[0].size() >= 19 && fields[0][2] == '/' &&
         fields[0][13] == ':' && fields[1].size() == 1 && fields[1][0] >= 'A' &&
         fields[1][0] <= 'Z';
}

// A record of accounting(5).
bool IsSgeRecord(std::string_view line) {
  constexpr std::size_t kLeastFields = 43, kSubmission = 8, kEnd = 10;
  const auto fields = Split(line, ':');
  if (fields.size() < kLeastFields) return false;
  for (std::size_t i = kSubmission; i <= kEnd; ++i) {
    if (!ParseInteger(fields[i])) return false;
  }
  return true;
}

std::string PbsAdvice(std::string_view logs) {
  return fmt::format(
      "make a table of its ended jobs (GPUs are Resource_List.ngpus): {} {} > jobs.csv{}jobs.csv",
      kPbsAwk, logs, kThenInspect);
}

std::string SgeAdvice(std::string_view log) {
  return fmt::format(
      "make a table of the accounting file (GPUs are gpu= of each slot): {} {} > jobs.csv{}"
      "jobs.csv",
      kSgeAwk, log, kThenInspect);
}

std::string AdviceOf(std::string_view command, std::string_view file) {
  return fmt::format("export: {}{}{}", command, kThenInspect, file);
}

// Of columns that one blank, or several, separate: how many; 0: it is no such table.
std::size_t BlankColumns(const std::vector<std::string_view>& lines, bool several) {
  const auto count = [&](std::string_view line) -> std::size_t {
    if (!several) return SplitAtBlanks(line).size();
    std::size_t columns = 1;
    line = Trim(line);
    for (std::size_t at = 0; (at = line.find("  ", at)) != std::string_view::npos; ++columns) {
      at = line.find_first_not_of(' ', at);
    }
    return columns;
  };
  constexpr std::size_t kLeastColumns = 3;
  if (lines.size() < 2) return 0;
  const std::size_t columns = count(lines.front());
  const bool alike = std::all_of(lines.begin(), lines.end(), [&](std::string_view line) {
    return count(line) == columns && line.find_first_of(",;|\t") == std::string_view::npos;
  });
  // Names of columns hold letters.
  const auto names = SplitAtBlanks(lines.front());
  const bool named = std::none_of(names.begin(), names.end(), [](std::string_view name) {
    return ParseNumber(name).has_value();
  });
  return alike && named && columns >= kLeastColumns ? columns : 0;
}

std::optional<ForeignFile> BlankTable(const std::vector<std::string_view>& lines,
                                      const std::string& path) {
  for (const bool several : {false, true}) {
    const std::size_t columns = BlankColumns(lines, several);
    if (columns == 0) continue;
    return ForeignFile{
        fmt::format("a table of {} columns that end at blanks", columns),
        fmt::format("separate them by commas: sed 's/^ *//; s/ *$//; s/{}*/,/g' {} > jobs.csv{}"
                    "jobs.csv",
                    several ? "   " : "  ", ShellWord(path), kThenInspect)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<ForeignFile> RecogniseForeignFile(std::string_view text, const std::string& path) {
  const auto lines = FirstLines(text);
  if (lines.empty()) return std::nullopt;
  const std::string_view first = Trim(lines.front());
  const std::string file = ShellWord(path);
  const auto begins = [&](std::string_view word) {
    return AnyOf(lines, [&](std::string_view line) { return Trim(line).starts_with(word); });
  };
  if (LooksLikeYaml(lines)) {
    return ForeignFile{"YAML of kubectl", AdviceOf(kKubectlCommand, "jobs.json")};
  }
  if (HasWords(first, {"NAME", "AGE"}) &&
      (HasWords(first, {"STATUS"}) || HasWords(first, {"COMPLETIONS"}))) {
    return ForeignFile{"a table that kubectl prints for people, without times and GPUs",
                       AdviceOf(kKubectlCommand, "jobs.json")};
  }
  if (first.starts_with("Name:") && begins("Namespace:")) {
    return ForeignFile{"the output of kubectl describe", AdviceOf(kKubectlCommand, "jobs.json")};
  }
  if (AnyOf(lines, IsPbsRecord)) return ForeignFile{"an accounting log of PBS", PbsAdvice(file)};
  if (first.starts_with("Job Id:") || text.substr(0, 400).find("\"pbs_version\"") != text.npos) {
    return ForeignFile{"the output of qstat -f of PBS, which knows present jobs only",
                       PbsAdvice(kPbsLogs)};
  }
  if (HasWords(first, {"Job", "id", "Name", "User", "Time", "Use"}) ||
      HasWords(first, {"Job", "ID", "Username", "Queue", "Jobname"})) {
    return ForeignFile{"the output of qstat of PBS, without times of submission and GPUs",
                       PbsAdvice(kPbsLogs)};
  }
  if (AnyOf(lines, IsSgeRecord)) {
    return ForeignFile{"an accounting file of Grid Engine (SGE)", SgeAdvice(file)};
  }
  if (HasWords(first, {"job-ID", "user", "state"})) {
    return ForeignFile{"the output of qstat of Grid Engine (SGE), which knows present jobs only",
                       SgeAdvice(kSgeLog)};
  }
  if (begins("qname ") && begins("jobnumber ")) {
    return ForeignFile{"the output of qacct -j of Grid Engine (SGE)", SgeAdvice(kSgeLog)};
  }
  const bool bhist = begins("Summary of time in seconds spent in various states") ||
                     HasWords(first, {"JOBID", "USER", "JOB_NAME", "PEND", "RUN"});
  const bool bjobs = HasWords(first, {"JOBID", "USER", "STAT", "QUEUE"});
  const bool json = text.substr(0, 400).find("\"bjobs\"") != text.npos;
  const bool records = json || first.starts_with("Job <") || first.starts_with("\"JOB_FINISH\"") ||
                       begins("Accounting information about jobs");
  if (bhist || bjobs || records) {
    return ForeignFile{
        fmt::format("a file of LSF ({})", bhist   ? "bhist"
                                          : bjobs ? "bjobs"
                                                  : "bhist -l, bacct, bjobs -json or lsb.acct"),
        AdviceOf(kLsfCommand, "jobs.csv")};
  }
  const bool condor_table = HasWords(first, {"OWNER", "SUBMITTED", "RUN_TIME", "ST"});
  const bool ads = begins("ClusterId =") || begins("MyType = \"Job\"") ||
                   (first.starts_with('[') &&
                    text.substr(0, 64 * std::size_t{1024}).find("\"ClusterId\"") != text.npos);
  if (begins("-- Schedd:")) {
    return ForeignFile{"the output of condor_q of HTCondor, which knows present jobs only",
                       AdviceOf(kCondorCommand, "jobs.csv")};
  }
  if (condor_table || ads) {
    return ForeignFile{"the output of condor_history of HTCondor",
                       AdviceOf(kCondorCommand, "jobs.csv")};
  }
  if (first.find("ClusterId") != text.npos && first.find("QDate") != text.npos) {
    return ForeignFile{"a table of HTCondor's condor_history", "", true};
  }
  const bool squeue = first.starts_with('{') &&
                      text.substr(0, 64 * std::size_t{1024}).find("\"job_state\"") != text.npos;
  if (squeue || first.starts_with("JobId=")) {
    return ForeignFile{fmt::format("the output of {} of Slurm, which knows present jobs only",
                                   squeue ? "squeue --json" : "scontrol show job"),
                       AdviceOf(kSlurmCommand, "sacct.txt")};
  }
  return BlankTable(lines, path);
}

}  // namespace allot
