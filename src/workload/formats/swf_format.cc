// SWF: the Standard Workload Format of the Parallel Workloads Archive. 18 numbers a line, -1 where
// a value is not known. Comments begin with ';' and may state facts ("; UnixStartTime: 1000000000")
// or name a number of the columns ("; Queue: 3 long").

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/counted.h"
#include "core/error.h"
#include "core/strings.h"
#include "table/row_error.h"
#include "table/table_dialect.h"
#include "table/text_encoding.h"
#include "workload/formats/trace_builder.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

enum SwfField : std::size_t {
  kJobNumber,
  kSubmitTime,
  kWaitTime,
  kRunTime,
  kAllocatedProcessors,
  kRequestedProcessors = 7,
  kRequestedTime = 8,
  kStatus = 10,
  kUserNumber,
  kGroupNumber,
  kExecutable,
  kQueue,
  kPartition,
  kSwfFields = 18,
};

constexpr std::array<std::string_view, kSwfFields> kSwfNames = {"job number",
                                                                "submit time",
                                                                "wait time",
                                                                "run time",
                                                                "allocated processors",
                                                                "average CPU time",
                                                                "used memory",
                                                                "requested processors",
                                                                "requested time",
                                                                "requested memory",
                                                                "status",
                                                                "user",
                                                                "group",
                                                                "executable",
                                                                "queue",
                                                                "partition",
                                                                "preceding job",
                                                                "think time"};

// Labels of comments that give names to the numbers of a field.
constexpr std::array<std::pair<std::string_view, SwfField>, 5> kSwfNamingLabels = {
    {{"user", kUserNumber},
     {"group", kGroupNumber},
     {"executable", kExecutable},
     {"queue", kQueue},
     {"partition", kPartition}}};

constexpr std::string_view kPartOfSwapped =
    "a part of a job that was swapped out (its summary line counts)";
constexpr std::string_view kSwfNoRunTime = "no run time";
constexpr std::string_view kUnknownStatus = "a status that SWF does not define: not reported";

// "; MaxProcs: 128" -> {"maxprocs", "128"}; an empty label for other comments.
struct SwfComment {
  std::string label;  // in lower case
  std::string_view value;
};

SwfComment ParseSwfComment(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of("; \t"), line.size()));
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  return {ToLower(Trim(line.substr(0, colon))), Trim(line.substr(colon + 1))};
}

// What the comments of a file say.
struct SwfHeader {
  std::optional<std::int64_t> start;  // UnixStartTime
  std::optional<long long> processors, nodes;
  std::string time_zone;  // TimeZoneString
  std::map<std::pair<SwfField, long long>, std::string> names;

  void Add(std::string_view line, const std::string& place) {
    const auto [label, value] = ParseSwfComment(line);
    const std::string_view first = value.substr(0, value.find_first_of(" \t"));
    const auto number = ParseInteger(first);
    if (label == "maxprocs") processors = number;
    if (label == "maxnodes") nodes = number;
    if (label == "timezonestring") time_zone = Printable(value);
    if (label == "unixstarttime") {
      constexpr long long kLatest = 5'000'000'000;  // 2128
      if (!number || *number > kLatest) {
        throw DataError("UnixStartTime must be seconds since 1970, got {} ({})", Quoted(value),
                        place);
      }
      if (*number > 0) start = *number;
    }
    for (const auto& [name, field] : kSwfNamingLabels) {
      const std::string_view rest = Trim(value.substr(first.size()));
      if (label == name && number && !rest.empty()) names[{field, *number}] = Printable(rest);
    }
  }
};

// One line of numbers.
class SwfLine {
 public:
  SwfLine(std::string_view line, std::string place) : place_(std::move(place)) {
    const std::vector<std::string_view> fields = SplitAtBlanks(line);
    if (fields.size() != kSwfFields) {
      throw RowError(fmt::format("a line of SWF must have {} fields", std::size_t{kSwfFields}),
                     std::to_string(fields.size()), place_);
    }
    for (std::size_t i = 0; i < kSwfFields; ++i) {
      const auto value = ParseNumber(fields[i]);
      if (!value) Fail(static_cast<SwfField>(i), "a finite number", Quoted(fields[i]));
      values_.at(i) = *value;
    }
  }

  // >= 0; nullopt where it is not known (-1).
  std::optional<double> Known(SwfField field) const {
    const double value = values_.at(field);
    if (value == -1) return std::nullopt;
    if (value < 0) Fail(field, "at least 0, or -1 where it is not known", Got(field));
    return value;
  }
  std::optional<long long> KnownWhole(SwfField field) const {
    const auto value = Known(field);
    if (!value) return std::nullopt;
    if (*value != std::floor(*value) || *value > 1e15) Fail(field, "a whole number", Got(field));
    return static_cast<long long>(*value);
  }
  double value(SwfField field) const { return values_.at(field); }

  [[noreturn]] void Fail(SwfField field, std::string_view rule, std::string_view got) const {
    throw RowError(
        fmt::format("field {} ({}) must be {}", std::size_t{field} + 1, kSwfNames.at(field), rule),
        got, place_);
  }
  std::string Got(SwfField field) const { return fmt::format("{}", values_.at(field)); }

 private:
  std::string place_;
  std::array<double, kSwfFields> values_{};
};

class SwfJobs {
 public:
  SwfJobs(const SwfHeader& header, TraceBuilder& builder) : header_(header), builder_(builder) {}

  std::optional<Job> Read(const SwfLine& line) {
    const double status = line.value(kStatus);
    if (status == 2 || status == 3 || status == 4) return builder_.Drop(kPartOfSwapped);
    const auto number = line.KnownWhole(kJobNumber);
    if (!number) line.Fail(kJobNumber, "a whole number", line.Got(kJobNumber));
    Job job;
    job.id = std::to_string(*number);
    const auto submit = line.Known(kSubmitTime);
    if (!submit) return builder_.Drop("no submit time");
    job.submit = *submit + static_cast<double>(header_.start.value_or(0));
    const long long processors = Processors(line);
    if (processors == 0) return builder_.Drop(kNoGpus);
    if (processors > kMostGpus) {
      line.Fail(kAllocatedProcessors, fmt::format("at most {}", kMostGpus),
                std::to_string(processors));
    }
    job.gpus = static_cast<GpuCount>(processors);
    const double wait = line.value(kWaitTime);
    const auto run_time = line.Known(kRunTime);
    if (!run_time) return builder_.Drop(wait == -1 ? kNeverStarted : kSwfNoRunTime);
    if (*run_time == 0) return builder_.Drop(kNoRunTime);
    job.duration = *run_time;
    if (wait != -1) job.recorded_wait = builder_.WaitFrom(0, wait);
    job.user_estimate = line.Known(kRequestedTime).value_or(0);
    job.outcome = OutcomeOf(status);
    Workload& names = builder_.workload();
    job.user = names.users.Intern(Name(line, kUserNumber));
    job.group = names.groups.Intern(Name(line, kExecutable));
    for (const SwfField field : {kQueue, kPartition, kGroupNumber}) {
      if (job.tenant < 0) job.tenant = names.tenants.Intern(Name(line, field));
    }
    return job;
  }

 private:
  // What it got, else what it asked for; 0: neither is known.
  static long long Processors(const SwfLine& line) {
    const long long allocated = line.KnownWhole(kAllocatedProcessors).value_or(0);
    return allocated > 0 ? allocated : line.KnownWhole(kRequestedProcessors).value_or(0);
  }

  Outcome OutcomeOf(double status) {
    if (status == 1) return Outcome::kPassed;
    if (status == 0) return Outcome::kFailed;
    if (status == 5) return Outcome::kKilled;
    if (status != -1) builder_.Adjust(kUnknownStatus);
    return Outcome::kUnreported;
  }

  // "" where it is not known.
  std::string Name(const SwfLine& line, SwfField field) const {
    const auto number = line.KnownWhole(field);
    if (!number) return "";
    const auto named = header_.names.find({field, *number});
    return named != header_.names.end() ? named->second : std::to_string(*number);
  }

  const SwfHeader& header_;
  TraceBuilder& builder_;
};

// Calls `use(line, number)` for every line that is not empty, without blanks around it.
template <typename Use>
void ForEachLine(std::string_view text, Use use) {
  int number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = Trim(text.substr(begin, end - begin));
    if (!line.empty() && !use(line, number)) return;
    begin = end + 1;
  }
}

void AddSwfNotes(const SwfHeader& header, ReadReport* report) {
  report->notes.emplace_back("SWF counts processors: each of them counts as one GPU");
  if (header.processors && *header.processors > 0) {
    std::string note = "recorded on " + Counted(*header.processors, "processor");
    const bool even = header.nodes && *header.nodes > 0 && *header.processors % *header.nodes == 0;
    if (even) {
      note += fmt::format(" in {}: --cluster {}x{}", Counted(*header.nodes, "node"), *header.nodes,
                          *header.processors / *header.nodes);
    }
    report->notes.push_back(note);
  }
  if (!header.time_zone.empty() && header.start) {
    report->notes.push_back(
        fmt::format("times of day are UTC; the machine stood in the zone {}", header.time_zone));
  }
}

Workload ReadSwf(std::string_view text, const std::string& path, const ReadOptions& options,
                 ReadReport* report) {
  if (const auto bad = FindBadUtf8(text)) {
    throw DataError(
        "a file of SWF must be text, got byte 0x{:02x} ({}:{})",
        static_cast<unsigned char>(text[*bad]), path,
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*bad), '\n'));
  }
  SwfHeader header;
  ForEachLine(text, [&](std::string_view line, int number) {
    if (line.starts_with(';')) header.Add(line, fmt::format("{}:{}", path, number));
    return true;
  });
  TraceBuilder builder(path, options, report);
  SwfJobs jobs(header, builder);
  ForEachLine(text, [&](std::string_view line, int number) {
    if (line.starts_with(';')) return true;
    builder.Record(number, [&] { return jobs.Read(SwfLine(line, builder.place())); });
    return true;
  });
  AddSwfNotes(header, report);
  return header.start ? builder.FinishCalendar() : builder.Finish();
}

// By the first line of numbers; a file whose comments state facts of SWF is one in any case, so
// that a wrong line is named.
int DetectSwf(std::string_view head) {
  static constexpr std::array<std::string_view, 8> kFacts = {
      "version", "unixstarttime", "maxprocs", "maxnodes",
      "maxjobs", "maxrecords",    "computer", "timezonestring"};
  int score = 0;
  ForEachLine(head, [&](std::string_view line, int) {
    if (line.starts_with(';')) {
      const std::string label = ParseSwfComment(line).label;
      if (std::find(kFacts.begin(), kFacts.end(), label) != kFacts.end()) score = 90;
      return true;
    }
    const std::vector<std::string_view> fields = SplitAtBlanks(line);
    const bool numbers = std::all_of(fields.begin(), fields.end(), [](std::string_view field) {
      return ParseNumber(field).has_value();
    });
    if (numbers && fields.size() == kSwfFields) score = 100;
    return false;
  });
  return score;
}

ALLOT_REGISTER(TraceFormat,
               (TraceFormat{"swf", "Standard Workload Format of the Parallel Workloads Archive",
                            DetectSwf, ReadSwf}));

}  // namespace
}  // namespace allot
