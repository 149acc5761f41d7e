// allot forecast: when the jobs of a moment will start and end, or how good such forecasts are.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/forecast_tables.h"
#include "cli/typed_command.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "experiment/whatif/recorded_moment.h"
#include "experiment/whatif/whatif.h"
#include "experiment/world.h"
#include "metrics/humanise.h"
#include "wait_forecast/length_check.h"
#include "wait_forecast/outlook_check.h"
#include "workload/calendar.h"
#include "workload/past_lengths.h"
#include "workload/trace_stats.h"

namespace allot {
namespace {

struct ForecastOptions {
  WorldSpec world;
  std::string policy;  // "": the usual one
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
  // Jobs of --history that ended and had a time limit, for the moment of an export: what they took
  // of it is learned from events only.
  std::vector<EndedJob> ended{};
};

// `now`: whose users and groups the events name.
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

// The moment that is forecast begins with the record of an export, not with a simulated past: jobs
// ran and waited in it when it was taken.
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

// Lengths come with the moment. Arrivals are drawn from what came in the record before it, where
// that is long enough to tell something.
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

// Forecasts at the first decision from `at` on: where decisions fall on events that is `at` itself,
// or no job is unfinished then.
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
    if (o.now >= at_) LookAhead(o);
  }
  // In place of a run: from an observation whose events tell what ended before.
  void Begin(const Observation& o) {
    lengths_.Observe(o);
    LookAhead(o);
  }
  bool seen() const { return seen_; }
  const Observation& observation() const { return observation_; }
  std::vector<JobOutlook>& jobs() { return jobs_; }

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
    jobs_ = outlook_.Of({o, origin, &workload.tenants.names()}, lengths_, policy_).jobs;
  }

  const Outlook& outlook_;
  const Scenario& scenario_;
  LengthModel lengths_;
  Policy& policy_;
  Seconds at_;
  bool seen_ = false;
  Observation observation_;
  std::vector<JobOutlook> jobs_;
};

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
    nlohmann::ordered_json json = OutlookCalibration::Fit(times).ToJson();
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
  ShowScores(ScoresOf(times, SpanOf(o.horizon)), check, o.policy, globals.json);
}

void BeginWithRecord(const Scenario& scenario, Seconds at, const std::vector<EndedJob>& before,
                     const GlobalOptions& globals, AtMoment* moment) {
  RecordedMoment recorded = MomentOfRecord(scenario, at);
  std::vector<EndedJob>& ended = recorded.observation.events.ended;
  ended.insert(ended.begin(), before.begin(), before.end());
  if (recorded.without_room > 0 && !globals.quiet) {
    std::fprintf(stderr,
                 "note: %lld of the jobs that run have no room on this cluster and are left out, "
                 "with their %d GPUs\n",
                 static_cast<long long>(recorded.without_room), recorded.gpus_without_room);
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
  // Estimates of lengths that were drawn would tell nothing.
  world.GoByTimeLimits(of_record ? "none" : "");
  if (o.at.empty() && !o.check && !of_record) {
    throw UsageError(
        "--at TIME says of which moment, or --check how good forecasts are; without both there "
        "must "
        "be jobs that run or wait when the trace ends");
  }
  if (o.policy.empty()) o.policy = of_record ? kPresentPolicy : "fifo";
  if (!globals.quiet) std::fputs(world.ReadNote().c_str(), stderr);
  const auto policy = world.MakePolicy(o.policy);
  const auto future = world.MakePolicy(o.policy);
  if (world.spec().workloads > 1) {
    throw UsageError("forecast is of one workload, got --workloads {}", world.spec().workloads);
  }
  const std::shared_ptr<const Scenario> whole =
      of_record ? world.WholeRecord() : world.Scenarios().front().scenario;
  const Scenario& scenario = *whole;
  if (IsOracle(*policy, scenario)) {
    throw UsageError(
        "policy '{}' decides by true lengths here, which nobody can know ahead: a forecast needs "
        "another policy, or --length-estimates none or noisy:SIGMA",
        o.policy);
  }
  if (policy->ideal_shares() != nullptr) {
    throw UsageError("policy '{}' gives fractions of GPUs; forecasts are of whole jobs", o.policy);
  }
  const Seconds at = of_record ? MomentIn(scenario.workload(), o.at)
                     : o.check ? 0
                               : ParseWhen(scenario.workload(), o.at);
  const Before before =
      of_record && o.history.empty() ? BeforeMoment(o, world, at) : BeforeOf(o, world);
  if (before.arrivals == nullptr && !globals.quiet) {
    std::fprintf(
        stderr, "note: no history (--history TRACE@DATE, or %s): nobody else is taken to come\n",
        of_record ? "jobs that ended within --block before the moment" : "jobs before --from");
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
  AtMoment moment(outlook, scenario, before.lengths, *future, at);
  if (of_record) {
    BeginWithRecord(scenario, at, before.ended, globals, &moment);
  } else {
    SimulatedCluster cluster(scenario);
    cluster.DecideAt(at);
    DecisionListener* const listeners[] = {&moment};
    Drive(cluster, *policy, ContextOf(scenario), listeners,
          {.time_decisions = false, .enough = [&] { return moment.seen(); }});
    if (!moment.seen()) {
      throw UsageError("--at must lie before the end of the run, {} s, got {}",
                       cluster.Observe().now, o.at);
    }
    const Seconds decided = moment.observation().now;
    if (moment.observation().rows() == 0 && !globals.quiet) {
      std::fprintf(stderr, "note: no job runs or waits at %s\n",
                   TimeText(scenario.workload(), decided).c_str());
    }
    if (decided > at && !globals.quiet) {
      std::fprintf(
          stderr,
          "note: decisions fall on multiples of %s here: the forecast is of %s, not of %s\n",
          HumanDuration(scenario.options().interval).c_str(),
          TimeText(scenario.workload(), decided).c_str(),
          TimeText(scenario.workload(), at).c_str());
    }
  }
  if (!o.calibration.empty()) {
    OutlookCalibration::FromFile(o.calibration).Apply(moment.observation().now, &moment.jobs());
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
              .DefaultText("fifo; of an export in which jobs run or wait easy");
          line.Option("--at", o->at,
                      "the moment: date, 14d, or seconds after --from; of --check the first one")
              .DefaultText("of an export in which jobs run or wait: when it was made");
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
