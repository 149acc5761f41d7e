// allot forecast: when the jobs of a moment will start and end, or how good such forecasts are.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/forecast_tables.h"
#include "cli/typed_command.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "experiment/whatif/recorded_moment.h"
#include "experiment/whatif/whatif.h"
#include "experiment/world.h"
#include "metrics/humanise.h"
#include "sim/ruled_simulation.h"
#include "wait_forecast/forecast_check.h"
#include "wait_forecast/length_check.h"
#include "workload/calendar.h"
#include "workload/past_lengths.h"
#include "workload/trace_stats.h"

namespace allot {
namespace {

struct ForecastOptions {
  WorldSpec world;
  std::string policy;  // "" stands for the default
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
  LengthCorrelations correlations{};
};

Seconds SpanOf(const std::string& text) { return ParseWhen(Workload{}, text); }

// What is known of the time before the forecast.
struct Before {
  LengthModel lengths;
  std::shared_ptr<const PastArrivals> arrivals;  // null if unknown
  // Jobs of --history that ended and had a time limit, for the moment of an export: the length
  // model learns the fraction of their limits that they used only from events.
  std::vector<EndedJob> ended{};
};

// The events name users and groups of `now`.
std::vector<EndedJob> EndedWithLimit(const Workload& history, Seconds until, const Workload& now) {
  std::vector<EndedJob> ended;
  for (const Job& job : history.jobs) {
    const Seconds end = job.submit + std::max(0.0, job.recorded_wait) + job.duration;
    if (!job.ended() || job.user_estimate <= 0 || end > until) continue;
    ended.push_back({.submit = job.submit,
                     .end = end,
                     .work = job.duration,
                     .estimated_work = job.user_estimate,
                     .requested_gpus = job.gpus,
                     .user = now.users.Find(history.users[job.user]),
                     .group = now.groups.Find(history.groups[job.group])});
  }
  return ended;
}

Before BeforeOf(const ForecastOptions& o, World& world) {
  Before before;
  WorldSpec past = o.world;
  past.lengths = world.spec().lengths;
  past.workloads = 1;
  if (o.history.empty() && (world.in_settings() || world.made_by_law())) {
    past.seed += 1'000'003;  // another draw of the same law
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
  if (world.spec().lengths == "user") before.ended = EndedWithLimit(trace, until, world.trace());
  if (!past.loads.empty()) {
    past.span = fmt::format("{}", until < kNever ? until : trace.jobs.back().submit + 1);
    if (until == kNever) past.to = past.span;
  }
  past.loads.resize(std::min<std::size_t>(past.loads.size(), 1));
  World thinned(past);
  const auto scenario = thinned.Scenarios().front().scenario;
  // The scenario begins with the record.
  before.arrivals =
      std::make_shared<PastArrivals>(scenario, until - trace.recorded_from, SpanOf(o.block));
  return before;
}

// True if the forecast begins with the record of an export, in which jobs ran and waited when it
// was made, and not with a simulated past.
bool BeginsWithRecord(const ForecastOptions& o, World& world) {
  const WorldSpec& spec = world.spec();
  return !o.check && !world.in_settings() && world.trace().recorded_until && spec.from.empty() &&
         spec.to.empty() && spec.loads.empty();
}

Seconds MomentIn(const Workload& record, const std::string& at) {
  const Seconds until = *record.recorded_until;
  if (at.empty()) return until;
  const Seconds moment = ParseWhen(record, at);
  if (moment <= until) return moment;
  throw UsageError("--at must not lie after the end of the record, {}, got {}",
                   TimeText(record, until), at);
}

// Arrivals are drawn from the record before the moment, if that is long enough. Lengths are learned
// from the events of the moment.
Before BeforeMoment(const ForecastOptions& o, World& world, Seconds at) {
  const Workload& record = world.trace();
  const Seconds block = SpanOf(o.block);
  const bool any_ended = std::any_of(record.jobs.begin(), record.jobs.end(),
                                     [](const Job& job) { return job.ended(); });
  Before before;
  if (!any_ended || at - record.recorded_from < block) return before;
  before.arrivals = std::make_shared<PastArrivals>(world.Scenarios().front().scenario,
                                                   at - record.recorded_from, block);
  return before;
}

// Makes a forecast at the first decision from `at` on. With decisions on events that is `at`
// itself, unless no job is unfinished then.
class AtMoment : public DecisionListener {
 public:
  AtMoment(const WaitForecaster& forecaster, const Scenario& scenario, LengthModel lengths,
           Policy& policy, Seconds at)
      : forecaster_(forecaster),
        scenario_(scenario),
        lengths_(std::move(lengths)),
        policy_(policy),
        at_(at) {
    lengths_.OnEpisodeStart();
  }
  void OnDecision(const Observation& o, const Allocation&) override {
    if (seen_) return;
    lengths_.Observe(o);
    if (o.now >= at_) LookAhead(o);
  }
  // Used instead of a run: `o` has the jobs that ended before in its events.
  void Begin(const Observation& o) {
    lengths_.Observe(o);
    LookAhead(o);
  }
  bool seen() const { return seen_; }
  const Observation& observation() const { return observation_; }
  std::vector<JobForecast>& jobs() { return jobs_; }

 private:
  void LookAhead(const Observation& o) {
    seen_ = true;
    observation_ = o;
    if (scenario_.options().decide_on_events && o.now > at_) {
      observation_.ClearJobs();
      observation_.now = at_;
      return;
    }
    const Workload& workload = scenario_.workload();
    const auto origin = static_cast<Seconds>(ParseCalendar(workload.origin).value_or(0));
    jobs_ = forecaster_.Predict({o, origin, &workload.tenants.names()}, lengths_, policy_).jobs;
  }

  const WaitForecaster& forecaster_;
  const Scenario& scenario_;
  LengthModel lengths_;
  Policy& policy_;
  Seconds at_;
  bool seen_ = false;
  Observation observation_;
  std::vector<JobForecast> jobs_;
};

void Check(const ForecastOptions& o, const Scenario& scenario, const WaitForecaster& forecaster,
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
  ForecastCheck check(forecaster, scenario, lengths, future, options);
  LengthCheck length_check(scenario, lengths, options);
  DecisionListener* const listeners[] = {&check, &length_check};
  const RunOutcome outcome = RunPolicy(scenario, policy, listeners);
  std::vector<PredictedTime> times = check.Times(outcome.records);
  if (!o.fit.empty()) {
    nlohmann::ordered_json json = ForecastCalibration::Fit(times).ToJson();
    json["command"] = TypedCommand();
    WriteTextFile(o.fit, JsonText(json) + "\n");
  }
  if (!o.out.empty()) {
    std::filesystem::create_directories(o.out);
    WriteTextFile((std::filesystem::path(o.out) / "lengths.csv").string(),
                  CoverageCsv(length_check.Coverage()));
  }
  if (!o.calibration.empty()) {
    const auto calibration = ForecastCalibration::FromFile(o.calibration);
    for (PredictedTime& time : times) time.ahead = calibration.Shift(time.what, time.ahead);
  }
  ShowScores(ScoresOf(times, SpanOf(o.horizon)), check, o.policy, globals.json);
}

void BeginWithRecord(const Scenario& scenario, Seconds at, const std::vector<EndedJob>& before,
                     const GlobalOptions& globals, AtMoment* moment) {
  RecordedMoment recorded = MomentOfRecord(scenario, at);
  std::vector<EndedJob>& ended = recorded.observation.events.ended;
  ended.insert(ended.begin(), before.begin(), before.end());
  if (recorded.without_room > 0 && !globals.quiet) {
    std::fprintf(stderr, "note: %s (%d GPUs) left out: no room on this cluster\n",
                 Counted(recorded.without_room, "running job").c_str(), recorded.gpus_without_room);
  }
  moment->Begin(recorded.observation);
}

int Forecast(ForecastOptions o, const GlobalOptions& globals) {
  for (const auto& [name, value] :
       {std::pair("until", &o.until), {"fit", &o.fit}, {"out", &o.out}}) {
    if (!o.check && !value->empty()) throw UsageError("--{} is for --check", name);
  }
  World world(o.world);
  const bool of_record = BeginsWithRecord(o, world);
  // Drawn estimates of lengths would carry no information.
  world.GoByTimeLimits(of_record ? "none" : "");
  if (o.at.empty() && !o.check && !of_record) {
    throw UsageError(
        "forecast needs --at TIME or --check, unless jobs run or wait when the trace ends");
  }
  if (o.policy.empty()) o.policy = of_record ? kPresentPolicy : "fifo";
  if (!globals.quiet) std::fputs(world.ReadNote().c_str(), stderr);
  const auto policy = world.MakePolicy(o.policy);
  const auto future = world.MakePolicy(o.policy);
  if (world.spec().workloads > 1) {
    throw UsageError("forecast takes one workload, got --workloads {}", world.spec().workloads);
  }
  const std::shared_ptr<const Scenario> whole =
      of_record ? world.WholeRecord() : world.Scenarios().front().scenario;
  const Scenario& scenario = *whole;
  if (IsOracle(*policy, scenario)) {
    throw UsageError(
        "policy '{}' decides by true lengths here, which are not known in advance: choose another "
        "policy, or --length-estimates none or noisy:SIGMA",
        o.policy);
  }
  if (policy->ideal_shares() != nullptr) {
    throw UsageError("policy '{}' gives fractions of GPUs; forecasts need whole jobs", o.policy);
  }
  const Seconds at = of_record ? MomentIn(scenario.workload(), o.at)
                     : o.check ? 0
                               : ParseWhen(scenario.workload(), o.at);
  const Before before =
      of_record && o.history.empty() ? BeforeMoment(o, world, at) : BeforeOf(o, world);
  if (before.arrivals == nullptr && !globals.quiet) {
    std::fprintf(
        stderr, "note: no history (--history TRACE@DATE, or %s): no further jobs arrive\n",
        of_record ? "jobs that ended within --block before the moment" : "jobs before --from");
  }
  WaitForecastOptions options;
  options.samples = o.samples;
  options.seed = o.world.seed;
  options.horizon = SpanOf(o.horizon);
  options.settle = SpanOf(o.settle);
  options.correlations = o.correlations;
  const WaitForecaster forecaster(scenario.options(), options, before.arrivals);
  if (o.check) {
    Check(o, scenario, forecaster, before.lengths, *policy, *future, globals);
    return 0;
  }
  AtMoment moment(forecaster, scenario, before.lengths, *future, at);
  if (of_record) {
    BeginWithRecord(scenario, at, before.ended, globals, &moment);
  } else {
    RuledSimulation simulation(scenario);
    simulation.cluster().DecideAt(at);
    DecisionListener* const listeners[] = {&moment};
    Drive(simulation.port(), *policy, ContextOf(scenario), listeners,
          {.time_decisions = false, .enough = [&] { return moment.seen(); }});
    if (!moment.seen()) {
      throw UsageError("--at must lie before the end of the run, {} s, got {}",
                       simulation.cluster().Observe().now, o.at);
    }
    const Seconds decided = moment.observation().now;
    if (moment.observation().rows() == 0 && !globals.quiet) {
      std::fprintf(stderr, "note: no job runs or waits at %s\n",
                   TimeText(scenario.workload(), decided).c_str());
    }
    if (decided > at && !globals.quiet) {
      std::fprintf(
          stderr,
          "note: decisions fall on multiples of %s here: the forecast is for %s, not for %s\n",
          HumanDuration(scenario.options().interval).c_str(),
          TimeText(scenario.workload(), decided).c_str(),
          TimeText(scenario.workload(), at).c_str());
    }
  }
  if (!o.calibration.empty()) {
    ForecastCalibration::FromFile(o.calibration).Apply(moment.observation().now, &moment.jobs());
  }
  ShownForecast shown{scenario.workload(), moment.observation(), moment.jobs(), o.policy,
                      o.samples,           o.world.seed};
  shown.history = before.arrivals != nullptr;
  if (!world.made_by_law() && !world.in_settings()) {
    shown.read = nlohmann::json(world.read_report());
  }
  if (const auto report = world.ClusterReport()) shown.cluster_read = nlohmann::json(*report);
  ShowForecast(shown, globals.json);
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "forecast", "when jobs will start and end, as quantiles; how good such forecasts are",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<ForecastOptions>();
          o->world.oversized = "drop";  // nodes may be drained today
          DeclareWorld(line, o->world, BareWord::kWorkload);
          line.Option("-p,--policy", o->policy, "present policy; see 'allot list'")
              .DefaultText("fifo; easy for an export in which jobs run or wait");
          line.Option("--at", o->at,
                      "the moment: date, 14d, or seconds after --from; with --check the first one")
              .DefaultText("the end of an export in which jobs run or wait");
          line.Option("--history", o->history,
                      "earlier trace, TRACE@DATE, from which lengths and arrivals are drawn")
              .DefaultText("jobs before --from; another draw of a law");
          line.Option("--calibration", o->calibration,
                      "file written by --fit, which corrects the quantiles");
          line.Flag("--check", o->check,
                    "forecast at many moments of the run, and compare with what happened");
          line.Option("--every", o->every, "time between the moments of --check").ShowDefault();
          line.Option("--until", o->until, "end of the moments of --check")
              .DefaultText("last submission");
          line.Option("--fit", o->fit, "with --check: write a calibration to this file");
          line.Option("-o,--out", o->out,
                      "with --check: folder for lengths.csv, the coverage of the length model's "
                      "quantiles; 'allot report' draws it");
          line.Option("--samples", o->samples, "futures that are simulated")
              .Range(0, 10000)
              .DefaultText("64 for 250 jobs or fewer, 16 for 1,000 or more")
              .Detail("Estimates");
          line.Option("--horizon", o->horizon, "largest simulated time")
              .ShowDefault()
              .Detail("Estimates");
          line.Option("--settle", o->settle,
                      "largest simulated time once all jobs have started: they keep their rates")
              .ShowDefault()
              .Detail("Estimates");
          line.Option("--alike", o->correlations.alike,
                      "correlation of the lengths of one user's jobs of a size and group")
              .Range(0.0, 1.0)
              .ShowDefault()
              .Detail("Estimates");
          line.Option("--common", o->correlations.common,
                      "correlation of the lengths of any two jobs")
              .Range(0.0, 1.0)
              .ShowDefault()
              .Detail("Estimates");
          line.Option("--block", o->block, "length of the blocks of the history that are drawn")
              .ShowDefault()
              .Detail("Estimates");
          line.Footer("Lengths and arrivals are drawn from a history; docs/forecast.md.");
          return [o, &globals] { return Forecast(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
