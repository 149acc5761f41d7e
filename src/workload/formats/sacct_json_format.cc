// sacct --json: Slurm's accounting as JSON, from Slurm 22.05 on. Each record becomes the row that
// `sacct -P` prints, so that both give the same jobs.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/strings.h"
#include "table/json_records.h"
#include "table/row_error.h"
#include "workload/formats/sacct_rows.h"

namespace allot {
namespace {

using SacctJson = nlohmann::json;

constexpr std::string_view kSacctJsonCommand =
    "sacct --allusers --allocations --starttime 2026-10-01 --endtime 2026-11-01 --json > "
    "sacct.json";

const SacctJson& Member(const SacctJson& object, const char* key) {
  static const SacctJson none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::string TextOf(const SacctJson& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

// A number of Slurm's: plain with the two largest of 32 bits as "not set" and "infinite" up to
// 22.05, an object {set, infinite, number} from 23.02 on.
struct SlurmNumber {
  bool infinite = false;
  std::optional<std::int64_t> value;
};

class SacctRecord {
 public:
  SacctRecord(const SacctJson& record, std::string place)
      : record_(record), place_(std::move(place)) {
    if (!record.is_object()) Fail("a record", "an object", record);
  }

  std::string Id() const {
    const SacctJson& array = Member(record_, "array");
    const SacctJson& het = Member(record_, "het");
    const auto set = Number(array, "job_id").value.value_or(0);
    if (set > 0) {
      const auto task = Number(array, "task_id").value;
      if (task) return fmt::format("{}_{}", set, *task);
      const std::string tasks = TextOf(Member(array, "task"));
      if (!tasks.empty()) return fmt::format("{}_[{}]", set, tasks);
    }
    const auto first = Number(het, "job_id").value.value_or(0);
    if (first > 0) return fmt::format("{}+{}", first, Number(het, "job_offset").value.value_or(0));
    const auto id = Number(record_, "job_id").value;
    if (!id) Fail("job_id", "a number", Member(record_, "job_id"));
    return std::to_string(*id);
  }

  std::string User() const {
    const std::string user = TextOf(Member(record_, "user"));
    return user.empty() ? TextOf(Member(Member(record_, "association"), "user")) : user;
  }
  std::string Text(const char* key) const { return TextOf(Member(record_, key)); }

  // One word up to 22.05; later a list whose first word is the state and the others are flags.
  std::string State() const {
    const SacctJson& current = Member(Member(record_, "state"), "current");
    return TextOf(current.is_array() && !current.empty() ? current.front() : current);
  }

  std::string Reason() const { return TextOf(Member(Member(record_, "state"), "reason")); }

  // As sacct prints it: "Unknown" for 0.
  std::string Time(const char* key) const {
    const auto time = Number(Member(record_, "time"), key).value;
    return time && *time > 0 ? std::to_string(*time) : "Unknown";
  }
  std::string Elapsed() const {
    return std::to_string(Number(Member(record_, "time"), "elapsed").value.value_or(0));
  }
  std::string TimeLimit() const {  // in minutes
    const SlurmNumber limit = Number(Member(record_, "time"), "limit");
    if (limit.infinite) return "UNLIMITED";
    return limit.value ? std::to_string(*limit.value) : "";
  }

  // "cpu=8,gres/gpu:a100=4,node=1".
  std::string Tres(const char* key) const {
    const SacctJson& list = Member(Member(record_, "tres"), key);
    std::vector<std::string> parts;
    if (!list.is_array()) return "";
    for (const SacctJson& part : list) {
      const std::string type = TextOf(Member(part, "type")), name = TextOf(Member(part, "name"));
      const auto count = Number(part, "count").value;
      if (!count) continue;
      parts.push_back(fmt::format("{}{}{}={}", type, name.empty() ? "" : "/", name, *count));
    }
    return Join(parts, ",");
  }

 private:
  [[noreturn]] void Fail(std::string_view what, std::string_view rule, const SacctJson& got) const {
    throw RowError(fmt::format("'{}' of sacct --json must be {}", what, rule),
                   Quoted(got.dump(-1, ' ', true, SacctJson::error_handler_t::replace)), place_);
  }

  SlurmNumber Number(const SacctJson& object, const char* key) const {
    constexpr std::int64_t kNotSet = 0xfffffffe, kInfinite = 0xffffffff;
    constexpr std::int64_t kMostCounted = std::int64_t{1} << 53;
    const SacctJson& value = Member(object, key);
    const SacctJson& number = value.is_object() ? Member(value, "number") : value;
    if (value.is_object()) {
      if (Member(value, "infinite") == true) return {.infinite = true, .value = {}};
      if (Member(value, "set") == false) return {};
    }
    if (number.is_null()) return {};
    if (!number.is_number_integer()) {
      Fail(key, "a whole number, or an object of set, infinite and number", value);
    }
    // Beyond 32 bits "not set" is the largest but one, or negative.
    if (number < 0 || number > kMostCounted) return {};
    const auto count = number.get<std::int64_t>();
    if (count == kInfinite) return {.infinite = true, .value = {}};
    return count == kNotSet ? SlurmNumber{} : SlurmNumber{.infinite = false, .value = count};
  }

  const SacctJson& record_;
  std::string place_;
};

const std::vector<std::string>& SacctJsonColumns() {
  static const std::vector<std::string> columns = {
      "JobID",   "JobName",   "User",   "Account", "Partition",  "State",
      "Submit",  "Eligible",  "Start",  "End",     "ElapsedRaw", "TimelimitRaw",
      "ReqTRES", "AllocTRES", "Reason", "QOS"};
  return columns;
}

std::vector<std::string> RowOf(const SacctRecord& record) {
  return {record.Id(),
          record.Text("name"),
          record.User(),
          record.Text("account"),
          record.Text("partition"),
          record.State(),
          record.Time("submission"),
          record.Time("eligible"),
          record.Time("start"),
          record.Time("end"),
          record.Elapsed(),
          record.TimeLimit(),
          record.Tres("requested"),
          record.Tres("allocated"),
          record.Reason(),
          record.Text("qos")};
}

int DetectSacctJson(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || head[begin] != '{') return 0;
  static constexpr std::array<std::string_view, 4> kMembers = {"\"jobs\"", "\"time\"",
                                                               "\"submission\"", "\"tres\""};
  return std::all_of(
             kMembers.begin(), kMembers.end(),
             [&](std::string_view member) { return head.find(member) != std::string_view::npos; })
             ? 100
             : 0;
}

ALLOT_REGISTER(TraceFormat, (TraceFormat{"sacct-json", "sacct --json: Slurm's accounting as JSON",
                                         DetectSacctJson,
                                         [](std::string_view text, const std::string& path,
                                            const ReadOptions& options, ReadReport* report) {
                                           return ReadSacctJson(text, path, options, report,
                                                                SacctTenant::kPartition);
                                         }}));

}  // namespace

Workload ReadSacctJson(std::string_view text, const std::string& path, const ReadOptions& options,
                       ReadReport* report, SacctTenant tenant) {
  const std::size_t begin = text.find('{');
  const auto whole = begin == std::string_view::npos ? std::nullopt : ScanJsonObject(text, begin);
  std::string_view jobs;
  for (const JsonMember& member : whole ? whole->members : std::vector<JsonMember>()) {
    if (member.key == "jobs") jobs = member.value;
  }
  if (!jobs.starts_with('[')) {
    throw DataError(
        "a file of sacct --json must be one whole object with a list 'jobs', got {} "
        "({}:1); make one with: {}",
        whole ? "none" : "a text that ends before it is closed", path, kSacctJsonCommand);
  }
  const auto open = static_cast<std::size_t>(jobs.data() - text.data());
  const std::string_view before = text.substr(0, open);
  JsonRecords records(text.substr(0, open + jobs.size()), path, open,
                      1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')));
  CsvReader row = CsvReader::OfFields(path, SacctJsonColumns());
  TraceBuilder builder(path, options, report);
  report->notes.emplace_back("times are UTC: JSON has no zone (sacct -P prints local times)");
  return ReadSacctRows({.columns = SacctJsonColumns()}, row, path, &builder, report, tenant,
                       [&](const std::function<void()>& add) {
                         while (records.Next()) {
                           builder.Part(records.line(), [&] {
                             const SacctJson record = records.Parse();
                             row.SetRow(RowOf(SacctRecord(record, builder.place())),
                                        records.line());
                             row.CheckRow();
                             add();
                           });
                         }
                       });
}

}  // namespace allot
