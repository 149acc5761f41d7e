// The journal of 'allot serve' (docs/live.md): the jobs of a live cluster that ended, over all
// daemons of its state folder.

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/user_json.h"
#include "table/row_error.h"
#include "workload/calendar.h"
#include "workload/formats/trace_builder.h"
#include "workload/live_journal.h"

namespace allot {
namespace {

using Json = nlohmann::json;

// What the records of one job say together.
struct Story {
  bool archived = false;  // its first record is in the archive
  int line = 0;           // of its first record
  std::string id;         // of the workload's job
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
  job.id = story.id;
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

// The archive, then the journal, which begins with what is still known of jobs in the archive.
class JournalReader {
 public:
  JournalReader(const std::string& path, const ReadOptions& options, ReadReport* report)
      : path_(path), options_(options), report_(report), builder_(path, options, report) {}

  Workload Read(std::string_view text) {
    if (!options_.companion_path.empty()) {
      builder_.File(options_.companion_path);
      ReadFile(options_.companion_text, true);
      builder_.File(path_);
    }
    ReadFile(text, false);
    for (const Story& story : stories_) {
      builder_.File(story.archived ? options_.companion_path : path_);
      builder_.Whole(story.line, [&] { return JobOf(story, builder_); });
    }
    return builder_.Finish();
  }

 private:
  void ReadFile(std::string_view text, bool archived) {
    int line = 0;
    // What follows the last line break was cut off, or is being written.
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos;
         begin = end + 1) {
      ++line;
      const std::string_view one = text.substr(begin, end - begin);
      const Json record = ParseUserJson(one);
      const bool is_record = record.is_object() && record.contains("what") && record.contains("at");
      if (is_record && record["what"] != "job") {
        builder_.Note(line, [&] { Tell(record); });
        continue;
      }
      const auto begin_story = [&] {
        if (is_record) return Begin(record, archived, line);
        throw RowError("a record must be an object with 'at' and 'what'", Quoted(one),
                       builder_.place());
      };
      if (is_record && Known(record)) {
        builder_.Note(line, begin_story);
      } else {
        builder_.Part(line, begin_story);
      }
    }
  }

  // Of a job that the archive began with.
  bool Known(const Json& record) const {
    const auto name = record.find("job");
    if (name == record.end() || !name->is_string()) return false;
    const auto known = latest_.find(name->get<std::string>());
    return known != latest_.end() &&
           stories_[known->second].asked.value("submit", Json()) == record.value("submit", Json());
  }

  void Begin(const Json& record, bool archived, int line) {
    const std::string id = Fields(record, builder_).Text("job");
    if (Known(record)) return;
    const int before = times_[id]++;  // a name may be used again
    Story story{.archived = archived,
                .line = line,
                .id = before == 0 ? id : fmt::format("{}#{}", id, before + 1),
                .asked = record,
                .over = {}};
    latest_[id] = stories_.size();
    stories_.push_back(std::move(story));
  }

  // A record of another kind than the first word of a job.
  void Tell(const Json& record) {
    const Fields fields(record, builder_);
    const std::string what = fields.Text("what");
    if (what == "serve" && builder_.workload().origin.empty()) {
      builder_.workload().origin =
          FormatCalendar(static_cast<std::int64_t>(std::floor(fields.Number("origin"))));
    }
    if (what == "renewed" && options_.companion_path.empty()) {
      report_->notes.push_back(fmt::format("no {}: its jobs are not read", kJournalArchiveName));
    }
    if (!record.contains("job")) return;
    const auto known = latest_.find(fields.Text("job"));
    if (known == latest_.end()) {
      throw RowError("a journal names a job before it changes it", Quoted(fields.Text("job")),
                     builder_.place());
    }
    Story& story = stories_[known->second];
    const bool kept = what == "kept" && fields.Number("changes", 0) > 0;
    story.given = story.given || what == "give" || kept;
    if (what == "over") story.over = record;
  }

  const std::string& path_;
  const ReadOptions& options_;
  ReadReport* report_;
  TraceBuilder builder_;
  std::vector<Story> stories_;
  std::map<std::string, std::size_t> latest_;  // by the job's name
  std::map<std::string, int> times_;           // that it was used
};

Workload ReadJournal(std::string_view text, const std::string& path, const ReadOptions& options,
                     ReadReport* report) {
  return JournalReader(path, options, report).Read(text);
}

int DetectJournal(std::string_view head) {
  return head.starts_with("{\"at\":") && head.find("\"what\":") != std::string_view::npos ? 100 : 0;
}

ALLOT_REGISTER(TraceFormat,
               (TraceFormat{"live-journal", "journal.jsonl of 'allot serve': the jobs that ended",
                            DetectJournal, ReadJournal, JournalArchiveOf}));

}  // namespace
}  // namespace allot
