#include "advice/advice_audit.h"

#include <fcntl.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/calendar.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "core/user_json.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kIntent = "intent";
constexpr const char* kDone = "done";

}  // namespace

AdviceAudit::AdviceAudit(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code error;
  if (!std::filesystem::exists(path_, error) && !error) return;
  Read(OwnedFile(path_, O_RDONLY | O_NOFOLLOW).ReadAll());
}

void AdviceAudit::Read(std::string_view text) {
  int line = 0;
  for (std::size_t end = 0; (end = text.find('\n', whole_)) != std::string_view::npos;) {
    const std::string_view record = text.substr(whole_, end - whole_);
    ++line;
    whole_ = end + 1;
    const auto refuse = [&](const std::string& rule) {
      return DataError("a record of advice {}, got '{}' ({}:{})", rule, record, path_.string(),
                       line);
    };
    JsonFault fault;
    const auto json = ParseUserJson<Json>(record, &fault);
    if (!json.is_object()) throw refuse(json.is_discarded() ? fault.rule : "must be a JSON object");
    try {
      const auto step = json.at("step").get<std::string>();
      if (step != kIntent && step != kDone) throw refuse("must have the step intent or done");
      const NiceChange change = {.job = json.at("job").get<std::string>(),
                                 .user = json.at("user").get<std::string>(),
                                 .before = json.at("before").get<int>(),
                                 .after = json.at("after").get<int>(),
                                 .submit = json.at("submit").get<double>()};
      if (change.before < 0 || change.after < 0) throw refuse("must have Nice values >= 0");
      Apply(step == kDone, change, json.at("time").get<double>());
    } catch (const nlohmann::json::exception& error) {
      throw refuse(fmt::format("must have its fields ({})", error.what()));
    }
  }
}

void AdviceAudit::Apply(bool done, const NiceChange& change, Seconds time) {
  auto [found, is_new] = traces_.try_emplace(change.job);
  Trace& trace = found->second;
  // Another job may have got the number of one that is over.
  if (is_new || (!done && !trace.MayHaveLeft(change.before))) trace.original = change.before;
  trace.user = change.user;
  trace.submit = change.submit;
  if (done) {
    trace.value = change.after;
    trace.intended.reset();
    if (trace.value == trace.original) traces_.erase(found);
    return;
  }
  trace.value = change.before;
  trace.intended = change.after;
  constexpr Seconds kHour = 3600;
  std::erase_if(began_, [time](Seconds at) { return at < time - kHour; });
  began_.push_back(time);
}

void AdviceAudit::ForgetAllBut(const std::map<std::string, NiceNow>& jobs) {
  std::erase_if(traces_, [&jobs](const auto& trace) { return !jobs.contains(trace.first); });
}

int AdviceAudit::ChangesSince(Seconds time) const {
  return static_cast<int>(
      std::count_if(began_.begin(), began_.end(), [time](Seconds at) { return at > time; }));
}

void AdviceAudit::Intend(const NiceChange& change, Seconds now) { Append(kIntent, change, now); }
void AdviceAudit::Done(const NiceChange& change, Seconds now) { Append(kDone, change, now); }

void AdviceAudit::Append(const char* step, const NiceChange& change, Seconds now) {
  if (!file_) {
    const bool is_new = !std::filesystem::exists(path_);
    file_.emplace(path_, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
    if (is_new) SyncToDisk(path_.parent_path(), path_);
  }
  Json json = {
      {"time", now},           {"date", FormatCalendar(static_cast<std::int64_t>(std::floor(now)))},
      {"step", step},          {"job", change.job},
      {"user", change.user},   {"before", change.before},
      {"after", change.after}, {"submit", change.submit}};
  if (!change.why.empty()) json["why"] = change.why;
  const std::string line = JsonText(json, -1) + "\n";
  file_->Cut(whole_);  // what a killed process wrote a part of
  file_->Write(line);
  file_->Sync();
  whole_ += line.size();
  Apply(step == std::string_view(kDone), change, now);
}

}  // namespace allot
