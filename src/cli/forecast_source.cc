#include "cli/forecast_source.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/declare_world.h"
#include "cli/forecast_tables.h"
#include "core/counted.h"
#include "core/error.h"
#include "experiment/whatif/recorded_moment.h"
#include "experiment/whatif/whatif.h"
#include "metrics/humanise.h"
#include "sim/ruled_simulation.h"
#include "sim/run.h"
#include "workload/calendar.h"
#include "workload/past_lengths.h"

namespace allot {
namespace {

using Before = ForecastSource::Before;

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

Before BeforeOf(const ForecastSourceOptions& o, World& world) {
  Before before;
  WorldSpec past = o.world;
  past.lengths = world.spec().lengths;
  past.workloads = 1;
  if (o.history.empty() && (world.in_settings() || world.made_by_law())) {
    past.seed += 1'000'003;  // another draw of the same law
    World drawn(past);
    const auto scenario = drawn.Scenarios().front().scenario;
    before.lengths.Learn(scenario->workload(), kNever);
    before.arrivals = std::make_shared<PastArrivals>(scenario, kNever, ForecastSpan(o.block));
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
      std::make_shared<PastArrivals>(scenario, until - trace.recorded_from, ForecastSpan(o.block));
  return before;
}

// True if the forecast begins with the record of an export, in which jobs ran and waited when it
// was made, and not with a simulated past.
bool BeginsWithRecord(bool check, World& world) {
  const WorldSpec& spec = world.spec();
  return !check && !world.in_settings() && world.trace().recorded_until && spec.from.empty() &&
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
Before BeforeMoment(const ForecastSourceOptions& o, World& world, Seconds at) {
  const Workload& record = world.trace();
  const Seconds block = ForecastSpan(o.block);
  const bool any_ended = std::any_of(record.jobs.begin(), record.jobs.end(),
                                     [](const Job& job) { return job.ended(); });
  Before before;
  if (!any_ended || at - record.recorded_from < block) return before;
  before.arrivals = std::make_shared<PastArrivals>(world.Scenarios().front().scenario,
                                                   at - record.recorded_from, block);
  return before;
}

// Shows the first decision from `at` on. With decisions on events that is `at` itself, unless no
// job is unfinished then.
class FirstDecision : public DecisionListener {
 public:
  FirstDecision(LengthModel lengths, Seconds at, bool on_events, const ForecastSource::Use& use)
      : lengths_(std::move(lengths)), at_(at), on_events_(on_events), use_(use) {
    lengths_.OnEpisodeStart();
  }
  void OnDecision(const Observation& o, const Allocation&) override {
    if (seen_) return;
    lengths_.Observe(o);
    if (o.now < at_) return;
    seen_ = true;
    rows_ = o.rows();
    now_ = o.now;
    if (!on_events_ || o.now <= at_) {
      use_(o, lengths_);
      return;
    }
    Observation idle = o;
    idle.ClearJobs();
    rows_ = 0;
    idle.now = now_ = at_;
    use_(idle, lengths_);
  }
  bool seen() const { return seen_; }
  Seconds now() const { return now_; }
  std::int32_t rows() const { return rows_; }

 private:
  LengthModel lengths_;
  Seconds at_;
  bool on_events_;
  const ForecastSource::Use& use_;
  bool seen_ = false;
  Seconds now_ = 0;
  std::int32_t rows_ = 0;
};

}  // namespace

Seconds ForecastSpan(const std::string& text) { return ParseWhen(Workload{}, text); }

ForecastSource::ForecastSource(ForecastSourceOptions options, bool check,
                               const GlobalOptions& globals)
    : options_(std::move(options)), quiet_(globals.quiet), world_(options_.world) {
  ForecastSourceOptions& o = options_;
  of_record_ = BeginsWithRecord(check, world_);
  // Drawn estimates of lengths would carry no information.
  world_.GoByTimeLimits(of_record_ ? "none" : "");
  if (o.at.empty() && !check && !of_record_) {
    throw UsageError(
        "--at TIME must name the moment (forecast --check: many), unless jobs run or wait when the "
        "trace ends");
  }
  if (o.policy.empty()) o.policy = of_record_ ? kPresentPolicy : "fifo";
  if (!quiet_) std::fputs(world_.ReadNote().c_str(), stderr);
  present_ = world_.MakePolicy(o.policy);
  future_ = world_.MakePolicy(o.policy);
  if (world_.spec().workloads > 1) {
    throw UsageError("forecasts are of one workload, got --workloads {}", world_.spec().workloads);
  }
  scenario_ = of_record_ ? world_.WholeRecord() : world_.Scenarios().front().scenario;
  if (IsOracle(*present_, *scenario_)) {
    throw UsageError(
        "policy '{}' decides by true lengths here, which are not known in advance: choose another "
        "policy, or --length-estimates none or noisy:SIGMA",
        o.policy);
  }
  if (present_->ideal_shares() != nullptr) {
    throw UsageError("policy '{}' gives fractions of GPUs; forecasts need whole jobs", o.policy);
  }
  at_ = of_record_ ? MomentIn(scenario_->workload(), o.at)
        : check    ? 0
                   : ParseWhen(scenario_->workload(), o.at);
  before_ = of_record_ && o.history.empty() ? BeforeMoment(o, world_, at_) : BeforeOf(o, world_);
  if (before_.arrivals == nullptr && !quiet_) {
    std::fprintf(
        stderr, "note: no history (--history TRACE@DATE, or %s): no further jobs arrive\n",
        of_record_ ? "jobs that ended within --block before the moment" : "jobs before --from");
  }
  WaitForecastOptions forecast;
  forecast.samples = o.samples;
  forecast.seed = o.world.seed;
  forecast.horizon = ForecastSpan(o.horizon);
  forecast.settle = ForecastSpan(o.settle);
  forecast.correlations = o.correlations;
  forecaster_ =
      std::make_unique<const WaitForecaster>(scenario_->options(), forecast, before_.arrivals);
}

Seconds ForecastSource::origin() const {
  return static_cast<Seconds>(ParseCalendar(scenario_->workload().origin).value_or(0));
}

void ForecastSource::AtMoment(const Use& use) { of_record_ ? BeginWithRecord(use) : RunUpTo(use); }

void ForecastSource::BeginWithRecord(const Use& use) {
  RecordedMoment recorded = MomentOfRecord(*scenario_, at_);
  std::vector<EndedJob>& ended = recorded.observation.events.ended;
  ended.insert(ended.begin(), before_.ended.begin(), before_.ended.end());
  if (recorded.without_room > 0 && !quiet_) {
    std::fprintf(stderr, "note: %s (%d GPUs) left out: no room on this cluster\n",
                 Counted(recorded.without_room, "running job").c_str(), recorded.gpus_without_room);
  }
  LengthModel lengths = before_.lengths;
  lengths.OnEpisodeStart();
  lengths.Observe(recorded.observation);
  use(recorded.observation, lengths);
}

void ForecastSource::RunUpTo(const Use& use) {
  const Workload& workload = scenario_->workload();
  FirstDecision moment(before_.lengths, at_, scenario_->options().decide_on_events, use);
  RuledSimulation simulation(*scenario_);
  simulation.cluster().DecideAt(at_);
  DecisionListener* const listeners[] = {&moment};
  Drive(simulation.port(), *present_, ContextOf(*scenario_), listeners,
        {.time_decisions = false, .enough = [&] { return moment.seen(); }});
  if (!moment.seen()) {
    throw UsageError("--at must lie before the end of the run, {} s, got {}",
                     simulation.cluster().Observe().now, options_.at);
  }
  if (quiet_) return;
  if (moment.rows() == 0) {
    std::fprintf(stderr, "note: no job runs or waits at %s\n",
                 TimeText(workload, moment.now()).c_str());
  }
  if (moment.now() > at_) {
    std::fprintf(
        stderr,
        "note: decisions fall on multiples of %s here: the forecast is for %s, not for %s\n",
        HumanDuration(scenario_->options().interval).c_str(),
        TimeText(workload, moment.now()).c_str(), TimeText(workload, at_).c_str());
  }
}

void DeclareForecastSource(CommandLine& line, ForecastSourceOptions& o) {
  DeclareWorld(line, o.world, BareWord::kWorkload);
  line.Option("-p,--policy", o.policy, "present policy; see 'allot list'")
      .DefaultText("fifo; easy for an export in which jobs run or wait");
  line.Option("--at", o.at,
              "the moment: date, 14d, or seconds after --from; with --check the first one")
      .DefaultText("the end of an export in which jobs run or wait");
  line.Option("--history", o.history,
              "earlier trace, TRACE@DATE, from which lengths and arrivals are drawn")
      .DefaultText("jobs before --from; another draw of a law");
  line.Option("--calibration", o.calibration,
              "file written by --fit, which corrects the quantiles");
  line.Option("--samples", o.samples, "futures that are simulated")
      .Range(0, 10000)
      .DefaultText("64 for 250 jobs or fewer, 16 for 1,000 or more")
      .Detail("Estimates");
  line.Option("--horizon", o.horizon, "largest simulated time").ShowDefault().Detail("Estimates");
  line.Option("--alike", o.correlations.alike,
              "correlation of the lengths of one user's jobs of a size and group")
      .Range(0.0, 1.0)
      .ShowDefault()
      .Detail("Estimates");
  line.Option("--common", o.correlations.common, "correlation of the lengths of any two jobs")
      .Range(0.0, 1.0)
      .ShowDefault()
      .Detail("Estimates");
  line.Option("--block", o.block, "length of the blocks of the history that are drawn")
      .ShowDefault()
      .Detail("Estimates");
  line.Footer("Lengths and arrivals are drawn from a history; docs/forecast.md.");
}

}  // namespace allot
