// The original Philly log, cluster_job_log of msr-fiddle/philly-traces: one JSON list of
//   {status, vc, jobid, user, submitted_time, attempts: [{start_time, end_time, detail: [{ip,
//   gpus}]}]}.
// A job is one run: it lasts from the first start to the last end of its attempts (waits between
// attempts included, as in the published analyses) on the GPUs of its first attempt that started.
// Times may be null or "None"; what cannot be used for that reason is dropped and counted.

#include <optional>

#include "core/strings.h"
#include "table/byte_order_mark.h"
#include "table/json_records.h"
#include "table/row_error.h"
#include "workload/calendar.h"
#include "workload/formats/trace_builder.h"
#include "workload/job_rules.h"
#include "workload/outcome.h"

namespace allot {
namespace {

using nlohmann::json;

// A value for a message. Lists and objects only by what is in them: they may be large, or nested
// deeper than the stack allows dump() to follow.
std::string Shown(const json& value) {
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  if (!value.is_object()) return Quoted(value.dump());
  std::vector<std::string> keys;
  for (const auto& [key, member] : value.items()) keys.push_back(key);
  return fmt::format("an object with {}", Quoted(Join(keys, ",")));
}

class LogRecord {
 public:
  LogRecord(const json& record, TraceBuilder* builder) : record_(record), builder_(builder) {}

  std::optional<Job> Read() const {
    if (!record_.is_object()) Fail("a record must be a JSON object", record_);
    Job job;
    job.id = Text(record_, "jobid");
    job.outcome = OutcomeOf(Member(record_, "status"));
    const auto submit = Time(record_, "submitted_time");
    const json& attempts = List(record_, "attempts");

    const json* first = nullptr;
    const json* last = nullptr;
    for (const json& attempt : attempts) {
      if (!attempt.is_object()) Fail("an attempt must be a JSON object", attempt);
      if (!Time(attempt, "start_time")) continue;
      if (first == nullptr) first = &attempt;
      last = &attempt;
    }
    if (!submit) return builder_->Drop("no submit time");
    if (attempts.empty()) return builder_->Drop("no attempt to run it");
    if (first == nullptr) return builder_->Drop("no attempt ever started");
    const auto end = Time(*last, "end_time");
    if (!end) return builder_->Drop("last attempt has no end (still running)");
    job.gpus = GpusOf(*first);
    if (job.gpus == 0) return builder_->Drop("first attempt held no GPU");
    job.submit = static_cast<Seconds>(*submit);
    job.duration = static_cast<Seconds>(*end - *Time(*first, "start_time"));
    if (job.duration == 0) return builder_->Drop("run time is 0 s");

    Workload& names = builder_->workload();
    job.tenant = names.tenants.Intern(Name("vc"));
    job.user = names.users.Intern(Name("user"));
    return job;
  }

 private:
  [[noreturn]] void Fail(const std::string& rule, const json& got) const {
    throw RowError(rule, Shown(got), builder_->place());
  }

  const json& Member(const json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) Fail(fmt::format("'{}' is required", key), object);
    return *found;
  }

  const std::string& Text(const json& object, const char* key) const {
    const json& value = Member(object, key);
    if (!value.is_string()) Fail(fmt::format("'{}' must be a string", key), value);
    const auto& text = value.get_ref<const std::string&>();
    if (text.find('\0') != std::string::npos) Fail(fmt::format("'{}' must be text", key), value);
    return text;
  }

  const json& List(const json& object, const char* key) const {
    const json& value = Member(object, key);
    if (!value.is_array()) Fail(fmt::format("'{}' must be a list", key), value);
    return value;
  }

  // A name that may be absent.
  std::string Name(const char* key) const {
    const auto found = record_.find(key);
    if (found == record_.end() || found->is_null()) return "";
    return Text(record_, key);
  }

  std::optional<std::int64_t> Time(const json& object, const char* key) const {
    const json& value = Member(object, key);
    if (value.is_null() || value == "None") return std::nullopt;
    const auto time =
        value.is_string() ? ParseCalendar(value.get_ref<const std::string&>()) : std::nullopt;
    if (!time)
      Fail(fmt::format("'{}' must be like 2017-11-13 08:00:00, or null, or 'None'", key), value);
    return time;
  }

  Outcome OutcomeOf(const json& status) const {
    if (status.is_string()) {
      const auto outcome = ParsePhillyStatus(status.get_ref<const std::string&>());
      if (outcome) return *outcome;
    }
    Fail("'status' must be Pass, Failed or Killed", status);
  }

  GpuCount GpusOf(const json& attempt) const {
    std::size_t gpus = 0;
    for (const json& server : List(attempt, "detail")) {
      if (!server.is_object()) Fail("an entry of 'detail' must be a JSON object", server);
      gpus += List(server, "gpus").size();
    }
    if (gpus > static_cast<std::size_t>(kMostGpus)) {
      Fail(fmt::format("an attempt must hold at most {} GPUs", kMostGpus), gpus);
    }
    return static_cast<GpuCount>(gpus);
  }

  const json& record_;
  TraceBuilder* builder_;
};

Workload Read(std::string_view text, const std::string& path, const ReadOptions& options,
              ReadReport* report) {
  JsonRecords records(text, path);
  TraceBuilder builder(path, options, report);
  while (records.Next()) {
    builder.Record(records.line(), [&] {
      const json record = records.Parse();
      return LogRecord(record, &builder).Read();
    });
  }
  return builder.FinishCalendar();
}

int DetectLog(std::string_view head) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || head[begin] != '[') return 0;
  if (head.find("\"attempts\"") != std::string_view::npos) return 100;
  const std::size_t first = head.find_first_not_of(" \t\r\n", begin + 1);
  const bool empty = first != std::string_view::npos && head[first] == ']';
  const bool named = head.find("\"jobid\"") != std::string_view::npos ||
                     head.find("\"submitted_time\"") != std::string_view::npos;
  return empty || named ? 50 : 0;
}

ALLOT_REGISTER(TraceFormat, (TraceFormat{"philly", "the original Philly cluster_job_log (JSON)",
                                         DetectLog, Read}));

}  // namespace
}  // namespace allot
