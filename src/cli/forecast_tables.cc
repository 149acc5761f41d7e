#include "cli/forecast_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/typed_command.h"
#include "core/counted.h"
#include "core/index.h"
#include "core/json_text.h"
#include "core/version.h"
#include "metrics/humanise.h"
#include "metrics/table.h"
#include "workload/calendar.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

Json QuantilesJson(const TimeQuantiles& times) {
  Json json = Json::object();
  for (std::size_t l = 0; l < times.size(); ++l) {
    json[fmt::format("{}", kForecastLevels[l])] = std::isfinite(times[l]) ? Json(times[l]) : Json();
  }
  return json;
}

std::string AheadText(Seconds time, Seconds now) {
  if (std::isnan(time)) return "";
  return time == kNever ? "later" : HumanDuration(time - now);
}

std::string ShareText(double share) { return std::isnan(share) ? "-" : HumanShare(share); }

}  // namespace

std::string TimeText(const Workload& workload, Seconds time) {
  const auto origin = ParseCalendar(workload.origin);
  if (!origin) return fmt::format("{:.0f} s", time);
  return FormatCalendar(*origin + std::llround(time));
}

void ShowForecast(const ShownForecast& shown, bool as_json) {
  const Workload& workload = shown.workload;
  const Observation& now = shown.moment;
  Json rows = Json::array();
  using Align = TextTable::Align;
  TextTable table({{"job", Align::kLeft},
                   {"user", Align::kLeft},
                   {"GPUs"},
                   {"submitted", Align::kLeft},
                   {"start 10 %"},
                   {"50 %"},
                   {"90 %"},
                   {"end 10 %"},
                   {"50 %"},
                   {"90 %"}});
  for (std::size_t r = 0; r < shown.jobs.size(); ++r) {
    const JobForecast& forecast = shown.jobs[r];
    const Job& job = workload.jobs[At(forecast.job)];
    Json row = {
        {"job", job.id},
        {"user", workload.users[job.user]},
        {"gpus", job.gpus},
        {"submit", job.submit},
        {"waits", forecast.waits},
        {"start", forecast.waits && forecast.known() ? QuantilesJson(forecast.start) : Json()},
        {"end", forecast.known() ? QuantilesJson(forecast.end) : Json()}};
    rows.push_back(std::move(row));
    const auto ahead = [&](Seconds time) {
      return forecast.known() ? AheadText(time, now.now) : "?";
    };
    table.AddRow({job.id, workload.users[job.user], std::to_string(job.gpus),
                  TimeText(workload, job.submit),
                  forecast.waits ? ahead(forecast.start[0]) : "runs", ahead(forecast.start[1]),
                  ahead(forecast.start[2]), ahead(forecast.end[0]), ahead(forecast.end[1]),
                  ahead(forecast.end[2])});
  }
  if (as_json) {
    Json json{{"now", now.now},
              {"policy", shown.policy},
              {"samples", shown.samples > 0 ? shown.samples : SamplesFor(now.rows())},
              {"seed", shown.seed},
              {"history", shown.history},
              {"jobs", std::move(rows)}};
    if (!shown.read.is_null()) json["read"] = shown.read;
    if (!shown.cluster_read.is_null()) json["cluster_read"] = shown.cluster_read;
    std::printf("%s\n", JsonText(json).c_str());
    return;
  }
  std::printf("%s, %s, policy %s; times from now\n%s", TimeText(workload, now.now).c_str(),
              Counted(now.rows(), "job").c_str(), shown.policy.c_str(), table.ToText().c_str());
}

void ShowScores(const std::vector<ForecastScore>& scores, const ForecastCheck& check,
                const std::string& policy, bool as_json) {
  Json rows = Json::array();
  using Align = TextTable::Align;
  TextTable table({{"what", Align::kLeft},
                   {"median lies", Align::kLeft},
                   {"times"},
                   {"moments"},
                   {"in 80 %"},
                   {"before"},
                   {"after"},
                   {"pinball"},
                   {"width"}});
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  const auto time = [](double value) {
    if (std::isnan(value)) return std::string("-");
    return value == kNever ? std::string("open") : HumanDuration(value);
  };
  for (const ForecastScore& score : scores) {
    rows.push_back({{"what", score.what},
                    {"lead", score.lead},
                    {"times", score.times},
                    {"moments", score.moments},
                    {"covered", number(score.covered)},
                    {"below", number(score.below)},
                    {"above", number(score.above)},
                    {"pinball_s", number(score.pinball)},
                    {"width_s", number(score.width)}});
    table.AddRow({score.what, score.lead, std::to_string(score.times),
                  std::to_string(score.moments), ShareText(score.covered), ShareText(score.below),
                  ShareText(score.above), time(score.pinball), time(score.width)});
  }
  if (as_json) {
    std::printf("%s\n", JsonText(Json{{"command", TypedCommand()},
                                      {"version", Version()},
                                      {"policy", policy},
                                      {"moments", check.moments()},
                                      {"cpu_s", check.cpu_seconds()},
                                      {"scores", std::move(rows)}})
                            .c_str());
    return;
  }
  std::printf(
      "%lld moments, policy %s; %.0f ms CPU a forecast\n%s",
      static_cast<long long>(check.moments()), policy.c_str(),
      check.moments() > 0 ? 1e3 * check.cpu_seconds() / static_cast<double>(check.moments()) : 0.0,
      table.ToText().c_str());
}

}  // namespace allot
