#include "advice/advice_audit.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/calendar.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kIntent = "intent";
constexpr const char* kDone = "done";

}  // namespace

AdviceAudit::AdviceAudit(std::filesystem::path path)
    : file_(std::move(path), "a record of advice", [this](const Json& json) -> std::string {
        const auto step = json.at("step").get<std::string>();
        if (step != kIntent && step != kDone) return "must have the step intent or done";
        const NiceChange change = {.job = json.at("job").get<std::string>(),
                                   .user = json.at("user").get<std::string>(),
                                   .before = json.at("before").get<int>(),
                                   .after = json.at("after").get<int>(),
                                   .submit = json.at("submit").get<double>()};
        if (change.before < 0 || change.after < 0) return "must have Nice values >= 0";
        Apply(step == kDone, change, json.at("time").get<double>());
        return "";
      }) {}

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

void AdviceAudit::ForgetAllBut(const std::map<std::string, JobNow>& jobs) {
  std::erase_if(traces_, [&jobs](const auto& trace) { return !jobs.contains(trace.first); });
}

int AdviceAudit::ChangesSince(Seconds time) const {
  return static_cast<int>(
      std::count_if(began_.begin(), began_.end(), [time](Seconds at) { return at > time; }));
}

void AdviceAudit::Intend(const NiceChange& change, Seconds now) { Append(kIntent, change, now); }
void AdviceAudit::Done(const NiceChange& change, Seconds now) { Append(kDone, change, now); }

void AdviceAudit::Append(const char* step, const NiceChange& change, Seconds now) {
  Json json = {
      {"time", now},           {"date", FormatCalendar(static_cast<std::int64_t>(std::floor(now)))},
      {"step", step},          {"job", change.job},
      {"user", change.user},   {"before", change.before},
      {"after", change.after}, {"submit", change.submit}};
  if (!change.why.empty()) json["why"] = change.why;
  file_.Append({json});
  Apply(step == std::string_view(kDone), change, now);
}

}  // namespace allot
