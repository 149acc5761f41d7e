#include "advice/worth_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/calendar.h"
#include "core/counted.h"
#include "core/metric_text.h"
#include "core/strings.h"
#include "metrics/humanise.h"
#include "metrics/table.h"

namespace allot {
namespace {

// "22 % [15, 30]", "6 % longer [-1, 12]"
std::string ShorterText(const Estimate& shorter) {
  if (std::isnan(shorter.value)) return "-";
  const bool longer = shorter.value < 0;
  const double sign = longer ? -100 : 100;
  std::string text = fmt::format("{:.0f} %{}", sign * shorter.value, longer ? " longer" : "");
  if (std::isnan(shorter.low)) return text;
  const double ends[2] = {sign * shorter.low, sign * shorter.high};
  return text + fmt::format(" [{:.0f}, {:.0f}]", ends[longer ? 1 : 0], ends[longer ? 0 : 1]);
}

std::string CameText(const Worth& worth) {
  return worth.started > 0 ? fmt::format("{} ({})", HumanDuration(worth.came), worth.started) : "-";
}

nlohmann::ordered_json ToJson(const Worth& worth) {
  return {{"jobs", worth.jobs},
          {"own_wait", worth.own},
          {"advised_wait", worth.advised},
          {"shorter", worth.shorter.value},
          {"shorter_low", worth.shorter.low},
          {"shorter_high", worth.shorter.high},
          {"started", worth.started},
          {"came_wait", worth.came}};
}

}  // namespace

std::string WorthText(const WorthReport& report) {
  const auto date = [](Seconds time) {
    return FormatCalendar(static_cast<std::int64_t>(time)).substr(0, 10);
  };
  std::string text = fmt::format("{} to {} (UTC): {}\n", date(report.from), date(report.until),
                                 Counted(report.all.jobs, "job"));
  if (report.all.jobs == 0) {
    return text +
           "'allot advise' records waiting jobs where it repeats (without --once) or writes\n";
  }
  using Align = TextTable::Align;
  TextTable table({{"user", Align::kLeft},
                   {"account", Align::kLeft},
                   {"jobs"},
                   {"own order"},
                   {"advised"},
                   {"shorter by"},
                   {"came (started)"}});
  const auto add = [&table](const std::string& user, const std::string& account,
                            const Worth& worth) {
    table.AddRow({user, account, std::to_string(worth.jobs), HumanDuration(worth.own),
                  HumanDuration(worth.advised), ShorterText(worth.shorter), CameText(worth)});
  };
  add("all", "", report.all);
  for (const WorthOfUser& one : report.users) {
    add(Printable(one.user), Printable(one.account), one.worth);
  }
  return text + table.ToText() +
         "mean waits as estimated when a job was first seen; [95 % interval over days, from three "
         "days on]\ncame: the mean wait of those that have started, in the order that Slurm or "
         "Kueue then had\n";
}

nlohmann::ordered_json ToJson(const WorthReport& report) {
  nlohmann::ordered_json json{{"from", report.from}, {"until", report.until}};
  json["all"] = ToJson(report.all);
  json["users"] = nlohmann::ordered_json::array();
  for (const WorthOfUser& one : report.users) {
    nlohmann::ordered_json user{{"user", one.user}, {"account", one.account}};
    user.update(ToJson(one.worth));
    json["users"].push_back(std::move(user));
  }
  return json;
}

std::string WorthMetrics(const WorthReport& report) {
  MetricText metrics;
  metrics.Gauge("allot_advice_jobs", "Jobs seen by advice in the last week.")
      .Value(report.all.jobs);
  metrics
      .Gauge("allot_advice_wait_seconds",
             "Mean wait of these jobs, as estimated when they were first seen.")
      .Value(report.all.own, {{"order", "own"}})
      .Value(report.all.advised, {{"order", "advised"}});
  metrics.Gauge("allot_advice_shorter_ratio", "How much shorter the advised wait is, by user.");
  for (const WorthOfUser& one : report.users) {
    metrics.Value(one.worth.shorter.value, {{"user", one.user}, {"account", one.account}});
  }
  return metrics.text();
}

}  // namespace allot
