// allot forecast: when the jobs of a moment will start and end, or how good such forecasts are.

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/forecast_source.h"
#include "cli/forecast_tables.h"
#include "cli/typed_command.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "sim/run.h"
#include "wait_forecast/forecast_check.h"
#include "wait_forecast/length_check.h"
#include "workload/calendar.h"
#include "workload/trace_stats.h"

namespace allot {
namespace {

struct ForecastOptions {
  ForecastSourceOptions source;
  bool check = false;
  bool quotes = false;
  std::string every = "6h";
  std::string until;
  std::string fit;
  std::string out;
};

void Check(const ForecastOptions& o, ForecastSource& source, const GlobalOptions& globals) {
  const Scenario& scenario = source.scenario();
  const Workload& workload = scenario.workload();
  const std::string& at = o.source.at;
  CheckOptions options;
  options.every = ForecastSpan(o.every);
  if (!(options.every > 0)) throw UsageError("--every must be > 0 s, got {}", o.every);
  options.from = at.empty() ? workload.jobs.front().submit + 86400.0 : ParseWhen(workload, at);
  options.until = o.until.empty() ? workload.jobs.back().submit + 1 : ParseWhen(workload, o.until);
  if (options.until <= options.from) {
    throw UsageError("moments to check must lie before the end, {} s (--until), got {} s (--at)",
                     options.until, options.from);
  }
  options.quotes = o.quotes;
  ForecastCheck check(source.forecaster(), scenario, source.lengths(), source.future(), options);
  LengthCheck length_check(scenario, source.lengths(), options);
  DecisionListener* const listeners[] = {&check, &length_check};
  const RunOutcome outcome = RunPolicy(scenario, source.present(), listeners);
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
  if (!o.source.calibration.empty()) {
    const auto calibration = ForecastCalibration::FromFile(o.source.calibration);
    for (PredictedTime& time : times) time.ahead = calibration.Shift(time.what, time.ahead);
  }
  ShowScores(ScoresOf(times, ForecastSpan(o.source.horizon)), check, source.options().policy,
             globals.json);
}

int Forecast(const ForecastOptions& o, const GlobalOptions& globals) {
  for (const auto& [name, given] : {std::pair("until", !o.until.empty()),
                                    {"fit", !o.fit.empty()},
                                    {"out", !o.out.empty()},
                                    {"quotes", o.quotes}}) {
    if (!o.check && given) throw UsageError("--{} is for --check", name);
  }
  ForecastSource source(o.source, o.check, globals);
  if (o.check) {
    Check(o, source, globals);
    return 0;
  }
  const Workload& workload = source.scenario().workload();
  source.AtMoment([&](const Observation& moment, const LengthModel& lengths) {
    std::vector<JobForecast> jobs =
        source.forecaster()
            .Predict({moment, source.origin(), &workload.tenants.names()}, lengths, source.future())
            .jobs;
    if (!o.source.calibration.empty()) {
      ForecastCalibration::FromFile(o.source.calibration).Apply(moment.now, &jobs);
    }
    ShownForecast shown{workload,           moment, jobs, source.options().policy, o.source.samples,
                        o.source.world.seed};
    shown.history = source.has_history();
    World& world = source.world();
    if (!world.made_by_law() && !world.in_settings()) {
      shown.read = nlohmann::json(world.read_report());
    }
    if (const auto report = world.ClusterReport()) shown.cluster_read = nlohmann::json(*report);
    ShowForecast(shown, globals.json);
  });
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "forecast", "when jobs will start and end, as quantiles; how good such forecasts are",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<ForecastOptions>();
          DeclareForecastSource(line, o->source);
          line.Option("--settle", o->source.settle,
                      "largest simulated time once all jobs have started: they keep their rates")
              .ShowDefault()
              .Detail("Estimates");
          line.Flag("--check", o->check,
                    "forecast at many moments of the run, and compare with what happened");
          line.Flag("--quotes", o->quotes,
                    "with --check: quote the start of each job that arrives (allot quote), instead "
                    "of forecasts of all jobs");
          line.Option("--every", o->every, "time between the moments of --check").ShowDefault();
          line.Option("--until", o->until, "end of the moments of --check")
              .DefaultText("last submission");
          line.Option("--fit", o->fit, "with --check: write a calibration to this file");
          line.Option("-o,--out", o->out,
                      "with --check: folder for lengths.csv, the coverage of the length model's "
                      "quantiles; 'allot report' draws it");
          return [o, &globals] { return Forecast(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
