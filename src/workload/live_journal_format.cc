// The journal of 'allot serve' (docs/live.md): the jobs of a live cluster that ended, over all
// daemons of its state folder.

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/user_json.h"
#include "workload/calendar.h"
#include "workload/row_error.h"
#include "workload/trace_builder.h"

namespace allot {
namespace {

using Json = nlohmann::json;

// What the records of one job say together.
struct Story {
  int line = 0;  // of its first record
  Json asked;
  bool given = false;  // GPUs, ever
  Json over;
};

// Fields of one record, by their rules.
class Fields {
 public:
  Fields(const Json& record, const TraceBuilder& builder) : record_(record), builder_(builder) {}

  std::string Text(const char* key) const {
    const auto found = record_.find(key);
    if (found == record_.end() || !found->is_string()) Fail("text", key, found);
    return found->get<std::string>();
  }
  double Number(const char* key) const {
    const auto found = record_.find(key);
    if (found == record_.end() || !found->is_number()) Fail("a number", key, found);
    return found->get<double>();
  }
  double Number(const char* key, double otherwise) const {
    const auto found = record_.find(key);
    return found == record_.end() || found->is_null() ? otherwise : Number(key);
  }
  GpuCount Gpus(const char* key) const {
    const auto found = record_.find(key);
    if (found == record_.end() || !found->is_number_integer()) Fail("a whole number", key, found);
    return found->get<GpuCount>();
  }

 private:
  [[noreturn]] void Fail(const char* what, const char* key,
                         const Json::const_iterator& found) const {
    throw RowError(fmt::format("'{}' must be {}", key, what),
                   found == record_.end() ? "nothing" : found->dump(), builder_.place());
  }
  const Json& record_;
  const TraceBuilder& builder_;
};

Outcome OutcomeOf(const std::string& state) {
  if (state == "finished") return Outcome::kPassed;
  return state == "failed" ? Outcome::kFailed : Outcome::kKilled;
}

std::optional<Job> JobOf(const Story& story, TraceBuilder& builder) {
  const Fields asked(story.asked, builder);
  Job job;
  job.id = asked.Text("job");
  job.submit = asked.Number("submit");
  job.gpus = asked.Gpus("gpus");
  job.min_gpus = asked.Gpus("min_gpus");
  job.max_gpus = asked.Gpus("max_gpus");
  job.priority = asked.Number("priority", 0);
  job.deadline = asked.Number("deadline", kNever);
  job.user_estimate = asked.Number("time_limit", 0);
  if (!story.given) return builder.Drop(kNeverStarted);
  if (story.over.is_null()) return builder.Drop(kNotEnded);
  const Fields over(story.over, builder);
  job.duration = over.Number("run_time", over.Number("gpu_seconds") / job.gpus);
  job.outcome = OutcomeOf(over.Text("state"));
  if (!(job.duration > 0)) return builder.Drop(kNoRunTime);
  Workload& names = builder.workload();
  job.user = names.users.Intern(asked.Text("user"));
  job.group = names.groups.Intern(asked.Text("model"));
  if (story.asked.contains("gpu_types")) {
    job.gpu_types = names.gpu_types.Intern(asked.Text("gpu_types"));
  }
  if (story.asked.contains("profile")) job.model = names.models.Intern(asked.Text("profile"));
  return job;
}

// A record of another kind than the first word of a job.
void Tell(const Json& record, TraceBuilder& builder, std::map<std::string, Story>* stories) {
  const Fields fields(record, builder);
  const std::string what = fields.Text("what");
  if (what == "serve" && builder.workload().origin.empty()) {
    builder.workload().origin =
        FormatCalendar(static_cast<std::int64_t>(std::floor(fields.Number("origin"))));
  }
  if (!record.contains("job")) return;
  const auto story = stories->find(fields.Text("job"));
  if (story == stories->end()) {
    throw RowError("a journal names a job before it changes it", Quoted(fields.Text("job")),
                   builder.place());
  }
  story->second.given = story->second.given || what == "give";
  if (what == "over") story->second.over = record;
}

Workload ReadJournal(std::string_view text, const std::string& path, const ReadOptions& options,
                     ReadReport* report) {
  TraceBuilder builder(path, options, report);
  std::map<std::string, Story> stories;
  std::vector<std::string> order;
  int line = 0;
  // What follows the last line break was cut off, or is being written.
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1) {
    ++line;
    const std::string_view one = text.substr(begin, end - begin);
    const Json record = ParseUserJson(one);
    const bool is_record = record.is_object() && record.contains("what") && record.contains("at");
    if (!is_record || record["what"] == "job") {
      builder.Part(line, [&] {
        if (!is_record) {
          throw RowError("a record must be an object with 'at' and 'what'", Quoted(one),
                         builder.place());
        }
        const std::string id = Fields(record, builder).Text("job");
        stories[id].line = line;
        stories[id].asked = record;
        order.push_back(id);
      });
      continue;
    }
    builder.Note(line, [&] { Tell(record, builder, &stories); });
  }
  for (const std::string& id : order) {
    const Story& story = stories[id];
    builder.Whole(story.line, [&] { return JobOf(story, builder); });
  }
  return builder.Finish();
}

int DetectJournal(std::string_view head) {
  return head.starts_with("{\"at\":") && head.find("\"what\":") != std::string_view::npos ? 100 : 0;
}

ALLOT_REGISTER(TraceFormat,
               (TraceFormat{"live-journal", "journal.jsonl of 'allot serve': the jobs that ended",
                            DetectJournal, ReadJournal}));

}  // namespace
}  // namespace allot
