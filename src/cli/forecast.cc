// allot forecast: when the jobs of a moment will start and end, or how good such forecasts are.

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/typed_command.h"
#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
#include "core/json_text.h"
#include "core/version.h"
#include "experiment/world.h"
#include "metrics/humanise.h"
#include "metrics/table.h"
#include "outlook/length_check.h"
#include "outlook/outlook_check.h"
#include "outlook/past_lengths.h"
#include "workload/calendar.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct ForecastOptions {
  WorldSpec world;
  std::string policy = "fifo";
  std::string at;
  std::string history;
  std::string calibration;
  bool check = false;
  std::string every = "6h";
  std::string until;
  std::string fit;
  std::string out;
  int samples = 0;
  std::string horizon = "14d";
  std::string settle = "1d";
  std::string block = "1d";
  double alike = OutlookOptions{}.alike;
};

Seconds SpanOf(const std::string& text) { return ParseWhen(Workload{}, text); }

// What was before, as a world of its own under the same rules.
struct Before {
  LengthModel lengths;
  std::shared_ptr<const PastArrivals> arrivals;  // null: nothing is known
};

Before BeforeOf(const ForecastOptions& o, World& world) {
  Before before;
  WorldSpec past = o.world;
  past.workloads = 1;
  if (o.history.empty() && (world.in_settings() || world.made_by_law())) {
    past.seed += 1'000'003;  // another draw of the same
    World drawn(past);
    const auto scenario = drawn.Scenarios().front().scenario;
    before.lengths.Learn(scenario->workload(), kNever);
    before.arrivals = std::make_shared<PastArrivals>(scenario, kNever, SpanOf(o.block));
    return before;
  }
  if (world.in_settings()) {
    throw UsageError("--history {} is for traces, got --setting {}", o.history,
                     world.spec().setting);
  }
  const std::size_t at = o.history.rfind('@');
  if (o.history.empty()) {
    if (o.world.from.empty()) return before;
    past.to = o.world.from;
  } else {
    past.workload = o.history.substr(0, at);
    if (past.workload != o.world.workload) {
      past.format = "auto";
      past.columns.clear();
    }
    past.to = at == std::string::npos ? "" : o.history.substr(at + 1);
  }
  past.from.clear();
  World earlier(past);
  const Workload& trace = earlier.trace();
  const Seconds until = past.to.empty() ? kNever : ParseWhen(trace, past.to);
  if (trace.jobs.empty() || trace.jobs.front().submit >= until) {
    if (o.history.empty()) return before;
    throw UsageError("--history {}: no job of the trace was submitted before the date", o.history);
  }
  before.lengths.Learn(KnownPast(trace, until, o.world.seed), kNever);
  if (!past.loads.empty()) {
    past.span = fmt::format("{}", until < kNever ? until : trace.jobs.back().submit + 1);
    if (until == kNever) past.to = past.span;
  }
  past.loads.resize(std::min<std::size_t>(past.loads.size(), 1));
  World thinned(past);
  const auto scenario = thinned.Scenarios().front().scenario;
  before.arrivals = std::make_shared<PastArrivals>(scenario, until, SpanOf(o.block));
  return before;
}

// Forecasts at the first decision from `at` on.
class AtMoment : public DecisionListener {
 public:
  AtMoment(const Outlook& outlook, const Scenario& scenario, LengthModel lengths, Policy& policy,
           Seconds at)
      : outlook_(outlook),
        scenario_(scenario),
        lengths_(std::move(lengths)),
        policy_(policy),
        at_(at) {
    lengths_.OnEpisodeStart();
  }
  void OnDecision(const Observation& o, const Allocation&) override {
    if (seen_) return;
    lengths_.Observe(o);
    if (o.now < at_) return;
    seen_ = true;
    observation_ = o;
    const Workload& workload = scenario_.workload();
    const auto origin = static_cast<Seconds>(ParseCalendar(workload.origin).value_or(0));
    jobs_ = outlook_.Of({o, origin, &workload.tenants.names()}, lengths_, policy_).jobs;
  }
  bool seen() const { return seen_; }
  const Observation& observation() const { return observation_; }
  std::vector<JobOutlook>& jobs() { return jobs_; }

 private:
  const Outlook& outlook_;
  const Scenario& scenario_;
  LengthModel lengths_;
  Policy& policy_;
  Seconds at_;
  bool seen_ = false;
  Observation observation_;
  std::vector<JobOutlook> jobs_;
};

Json QuantilesJson(const TimeQuantiles& times) {
  Json json = Json::object();
  for (std::size_t l = 0; l < times.size(); ++l) {
    json[fmt::format("{}", kOutlookLevels[l])] = std::isfinite(times[l]) ? Json(times[l]) : Json();
  }
  return json;
}

std::string AheadText(Seconds time, Seconds now) {
  if (std::isnan(time)) return "";
  return time == kNever ? "later" : HumanDuration(time - now);
}

std::string TimeText(const Workload& workload, Seconds time) {
  const auto origin = ParseCalendar(workload.origin);
  if (!origin) return fmt::format("{:.0f} s", time);
  return FormatCalendar(*origin + std::llround(time));
}

void ShowJobs(const Scenario& scenario, AtMoment& moment, const ForecastOptions& o,
              const GlobalOptions& globals) {
  const Workload& workload = scenario.workload();
  const Observation& now = moment.observation();
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
  for (std::size_t r = 0; r < moment.jobs().size(); ++r) {
    const JobOutlook& outlook = moment.jobs()[r];
    const Job& job = workload.jobs[At(outlook.job)];
    Json row = {{"job", job.id},
                {"user", workload.users[job.user]},
                {"gpus", job.gpus},
                {"submit", job.submit},
                {"waits", outlook.waits},
                {"start", outlook.waits && outlook.told() ? QuantilesJson(outlook.start) : Json()},
                {"end", outlook.told() ? QuantilesJson(outlook.end) : Json()}};
    rows.push_back(std::move(row));
    const auto ahead = [&](Seconds time) {
      return outlook.told() ? AheadText(time, now.now) : "?";
    };
    table.AddRow({job.id, workload.users[job.user], std::to_string(job.gpus),
                  TimeText(workload, job.submit), outlook.waits ? ahead(outlook.start[0]) : "runs",
                  ahead(outlook.start[1]), ahead(outlook.start[2]), ahead(outlook.end[0]),
                  ahead(outlook.end[1]), ahead(outlook.end[2])});
  }
  if (globals.json) {
    std::printf("%s\n",
                JsonText(Json{{"now", now.now},
                              {"policy", o.policy},
                              {"samples", o.samples > 0 ? o.samples : SamplesFor(now.rows())},
                              {"seed", o.world.seed},
                              {"jobs", std::move(rows)}})
                    .c_str());
    return;
  }
  std::printf("%s, %d jobs, policy %s; times from now\n%s", TimeText(workload, now.now).c_str(),
              static_cast<int>(now.rows()), o.policy.c_str(), table.ToText().c_str());
}

std::string ShareText(double share) { return std::isnan(share) ? "-" : HumanShare(share); }

void ShowScores(const std::vector<OutlookScore>& scores, const OutlookCheck& check,
                const ForecastOptions& o, const GlobalOptions& globals) {
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
  for (const OutlookScore& score : scores) {
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
  if (globals.json) {
    std::printf("%s\n", JsonText(Json{{"command", TypedCommand()},
                                      {"version", Version()},
                                      {"policy", o.policy},
                                      {"moments", check.moments()},
                                      {"cpu_s", check.cpu_seconds()},
                                      {"scores", std::move(rows)}})
                            .c_str());
    return;
  }
  std::printf(
      "%lld moments, policy %s; %.0f ms CPU a forecast\n%s",
      static_cast<long long>(check.moments()), o.policy.c_str(),
      check.moments() > 0 ? 1e3 * check.cpu_seconds() / static_cast<double>(check.moments()) : 0.0,
      table.ToText().c_str());
}

void Check(const ForecastOptions& o, const Scenario& scenario, const Outlook& outlook,
           const LengthModel& lengths, Policy& policy, Policy& future,
           const GlobalOptions& globals) {
  const Workload& workload = scenario.workload();
  CheckOptions options;
  options.every = SpanOf(o.every);
  if (!(options.every > 0)) throw UsageError("--every must be > 0 s, got {}", o.every);
  options.from = o.at.empty() ? workload.jobs.front().submit + 86400.0 : ParseWhen(workload, o.at);
  options.until = o.until.empty() ? workload.jobs.back().submit + 1 : ParseWhen(workload, o.until);
  if (options.until <= options.from) {
    throw UsageError("moments to check must lie before the end, {} s (--until), got {} s (--at)",
                     options.until, options.from);
  }
  OutlookCheck check(outlook, scenario, lengths, future, options);
  LengthCheck length_check(scenario, lengths, options);
  DecisionListener* const listeners[] = {&check, &length_check};
  const RunOutcome outcome = RunPolicy(scenario, policy, listeners);
  std::vector<ForetoldTime> times = check.Times(outcome.records);
  if (!o.fit.empty()) {
    Json json = OutlookCalibration::Fit(times).ToJson();
    json["command"] = TypedCommand();
    WriteTextFile(o.fit, JsonText(json) + "\n");
  }
  if (!o.out.empty()) {
    std::filesystem::create_directories(o.out);
    WriteTextFile((std::filesystem::path(o.out) / "lengths.csv").string(),
                  CoverageCsv(length_check.Coverage()));
  }
  if (!o.calibration.empty()) {
    const auto calibration = OutlookCalibration::FromFile(o.calibration);
    for (ForetoldTime& time : times) time.ahead = calibration.Of(time.what, time.ahead);
  }
  ShowScores(ScoresOf(times, SpanOf(o.horizon)), check, o, globals);
}

int Forecast(const ForecastOptions& o, const GlobalOptions& globals) {
  if (o.at.empty() && !o.check) {
    throw UsageError("--at TIME says of which moment; or --check how good forecasts are");
  }
  for (const auto& [name, value] :
       {std::pair("until", &o.until), {"fit", &o.fit}, {"out", &o.out}}) {
    if (!o.check && !value->empty()) throw UsageError("--{} is for --check", name);
  }
  World world(o.world);
  const auto policy = world.MakePolicy(o.policy);
  const auto future = world.MakePolicy(o.policy);
  const auto scenarios = world.Scenarios();
  if (scenarios.size() > 1) {
    throw UsageError("forecast is of one workload, got --workloads {}", scenarios.size());
  }
  const Scenario& scenario = *scenarios.front().scenario;
  if (IsOracle(*policy, scenario)) {
    throw UsageError(
        "policy '{}' decides by true lengths here, which nobody can know ahead: a forecast needs "
        "another policy, or --length-estimates none or noisy:SIGMA",
        o.policy);
  }
  if (policy->ideal_shares() != nullptr) {
    throw UsageError("policy '{}' gives fractions of GPUs; forecasts are of whole jobs", o.policy);
  }
  const Before before = BeforeOf(o, world);
  if (before.arrivals == nullptr && !globals.quiet) {
    std::fprintf(stderr,
                 "note: no history (--history TRACE@DATE, or jobs before --from): nobody else is "
                 "taken to come\n");
  }
  OutlookOptions options;
  options.samples = o.samples;
  options.seed = o.world.seed;
  options.horizon = SpanOf(o.horizon);
  options.settle = SpanOf(o.settle);
  options.alike = o.alike;
  const Outlook outlook(scenario.options(), options, before.arrivals);
  if (o.check) {
    Check(o, scenario, outlook, before.lengths, *policy, *future, globals);
    return 0;
  }
  AtMoment moment(outlook, scenario, before.lengths, *future, ParseWhen(scenario.workload(), o.at));
  SimulatedCluster cluster(scenario);
  DecisionListener* const listeners[] = {&moment};
  Drive(cluster, *policy, ContextOf(scenario), listeners,
        {.time_decisions = false, .enough = [&] { return moment.seen(); }});
  if (!moment.seen()) {
    throw UsageError("--at must lie before the end of the run, {} s, got {}", cluster.Observe().now,
                     o.at);
  }
  if (!o.calibration.empty()) {
    OutlookCalibration::FromFile(o.calibration).Apply(moment.observation().now, &moment.jobs());
  }
  ShowJobs(scenario, moment, o, globals);
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "forecast", "when jobs will start and end, as quantiles; how good such forecasts are",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<ForecastOptions>();
          DeclareWorld(line, o->world);
          line.Option("-p,--policy", o->policy, "present policy; see 'allot list'").ShowDefault();
          line.Option("--at", o->at,
                      "the moment: date, 14d, or seconds after --from; of --check the first one");
          line.Option("--history", o->history,
                      "trace of what came before, TRACE@DATE: lengths and arrivals are drawn from "
                      "it")
              .DefaultText("jobs before --from; of a law another draw");
          line.Option("--calibration", o->calibration,
                      "file of --fit: by what quantiles are moved");
          line.Flag("--check", o->check,
                    "forecast at many moments of the run, and compare with what came");
          line.Option("--every", o->every, "between the moments of --check").ShowDefault();
          line.Option("--until", o->until, "end of the moments of --check")
              .DefaultText("last submission");
          line.Option("--fit", o->fit, "write a calibration to this file, from --check");
          line.Option("-o,--out", o->out,
                      "folder for lengths.csv, from --check: how well quantiles of lengths hold; "
                      "'allot report' draws it");
          line.Option("--samples", o->samples, "futures that are simulated")
              .Range(0, 10000)
              .DefaultText("64 for 250 jobs or fewer, 16 for 1,000 or more")
              .Detail("Estimates");
          line.Option("--horizon", o->horizon, "how far ahead is looked, at most")
              .ShowDefault()
              .Detail("Estimates");
          line.Option("--settle", o->settle,
                      "how far ahead, once all have started: then jobs run on as they do")
              .ShowDefault()
              .Detail("Estimates");
          line.Option("--alike", o->alike,
                      "correlation of the lengths of one user's jobs of a size and group")
              .Range(0.0, 1.0)
              .ShowDefault()
              .Detail("Estimates");
          line.Option("--block", o->block, "length of the pieces of the history that may come")
              .ShowDefault()
              .Detail("Estimates");
          line.Footer("Lengths and arrivals are drawn from a history; docs/forecast.md.");
          return [o, &globals] { return Forecast(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
