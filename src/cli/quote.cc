// allot quote: when a job would start that nobody has submitted yet, by an export or a daemon.

#include "wait_forecast/quote.h"

#include <cstdio>

#include "cli/command.h"
#include "cli/forecast_source.h"
#include "cli/forecast_tables.h"
#include "cli/state_folder.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/strings.h"
#include "live/daemon/control_server.h"
#include "live/status/status_json.h"
#include "metrics/humanise.h"
#include "metrics/table.h"

namespace allot {
namespace {

struct QuoteOptions {
  ForecastSourceOptions source;
  GpuCount gpus = 0;
  std::string type;
  std::optional<double> limit;
  std::string user;
  std::string account;
  std::string state;
};

QuoteRequest RequestOf(const QuoteOptions& o) {
  QuoteRequest request{.gpus = o.gpus};
  if (!o.type.empty()) request.type = o.type;
  if (o.limit) request.limit = *o.limit;
  return request;
}

std::string GpusText(const QuotedJob& job) {
  if (job.max_gpus == job.gpus) return std::to_string(job.gpus);
  return fmt::format("{} to {}", job.gpus, job.max_gpus);
}

// "12 jobs of ann (48 GPUs), 1 job of bob (4 GPUs)": of those with most GPUs.
std::string InTheWayText(const std::vector<JobsInTheWay>& jobs) {
  constexpr std::size_t kUsersNamed = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kUsersNamed, jobs.size()); ++i) {
    const std::string of =
        jobs[i].user.empty() ? "" : fmt::format(" of {}", Printable(jobs[i].user));
    text += fmt::format("{}{}{} ({})", i == 0 ? "" : ", ", Counted(jobs[i].jobs, "job"), of,
                        Counted(jobs[i].gpus, "GPU"));
  }
  if (jobs.size() > kUsersNamed) {
    text += fmt::format(", and those of {}",
                        Counted(static_cast<std::int64_t>(jobs.size() - kUsersNamed), "more user"));
  }
  return text;
}

std::string VariantText(QuoteVariant variant) {
  switch (variant) {
    case QuoteVariant::kAsked:
      return "as asked";
    case QuoteVariant::kHalf:
      return "half as many GPUs";
    case QuoteVariant::kDouble:
      return "twice as many GPUs";
    case QuoteVariant::kElastic:
      return "elastic";
    case QuoteVariant::kShorter:
      return "shorter";
    case QuoteVariant::kOtherType:
      return "another type";
  }
  return "";
}

void Show(const Quote& quote, const std::string& heading, const GlobalOptions& globals) {
  if (globals.json) {
    std::printf("%s\n", WriteQuote(quote, 2).c_str());
    return;
  }
  using Align = TextTable::Align;
  TextTable table({{"job", Align::kLeft},
                   {"GPUs"},
                   {"type", Align::kLeft},
                   {"limit"},
                   {"starts in 10 %"},
                   {"50 %"},
                   {"90 %"}});
  for (const QuotedJob& job : quote.jobs) {
    const auto start = [&](std::size_t level) {
      if (!job.start) return std::string("?");
      const Seconds time = (*job.start)[level];
      return time == kNever ? "later" : HumanDuration(time);
    };
    table.AddRow({VariantText(job.variant), GpusText(job), Printable(job.type.value_or("any")),
                  job.limit ? HumanDuration(*job.limit) : "-", start(0), start(1), start(2)});
  }
  std::string text = heading + table.ToText();
  text += fmt::format("In the way of the first: {} of {} are free.\n", quote.free_gpus,
                      Counted(quote.gpus, "GPU"));
  if (!quote.running.empty()) text += fmt::format("  run: {}\n", InTheWayText(quote.running));
  if (!quote.waiting.empty()) {
    text += fmt::format("  wait and start no later: {}\n", InTheWayText(quote.waiting));
  }
  for (const std::string& note : quote.notes) text += fmt::format("note: {}\n", Printable(note));
  std::fputs(text.c_str(), stdout);
}

void QuoteOfSource(const QuoteOptions& o, const GlobalOptions& globals) {
  ForecastSource source(o.source, false, globals);
  const Scenario& scenario = source.scenario();
  const Workload& workload = scenario.workload();
  const ForecastCalibration calibration = o.source.calibration.empty()
                                              ? ForecastCalibration()
                                              : ForecastCalibration::FromFile(o.source.calibration);
  source.AtMoment([&](const Observation& o_at, const LengthModel& lengths) {
    const WaitForecaster::Moment moment = {o_at, source.origin(), &workload.tenants.names()};
    Quote quote =
        MakeQuote(RequestOf(o),
                  {.forecaster = source.forecaster(),
                   .moment = moment,
                   .lengths = lengths,
                   .policy = source.future(),
                   .cluster = scenario.cluster(),
                   .rules = scenario.options().rules.get(),
                   .by_limits = scenario.options().lengths.kind == LengthEstimates::Kind::kUser,
                   .user = o.user,
                   .account = o.account},
                  calibration);
    if (const auto report = source.world().ClusterReport()) {
      for (const DropCount& drop : report->drops) {
        quote.notes.push_back(fmt::format("{} of the node list left out: {}",
                                          Counted(drop.rows, "node"), drop.reason));
      }
    }
    Show(quote,
         fmt::format("{}, {}, policy {}; times from now\n", TimeText(workload, quote.made),
                     Counted(o_at.rows(), "job"), source.options().policy),
         globals);
  });
}

int ShowQuote(const QuoteOptions& o, bool of_source, const GlobalOptions& globals) {
  if (of_source && !o.state.empty()) {
    throw UsageError("one source: '{}' or the daemon of --state {}", o.source.world.workload,
                     o.state);
  }
  if (of_source) {
    QuoteOfSource(o, globals);
    return 0;
  }
  if (!o.user.empty() || !o.account.empty()) {
    throw UsageError("a daemon quotes for the user who asks: --user and --account are for traces");
  }
  Show(AskQuote(StatusSockets(o.state), RequestOf(o)), "", globals);
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "quote", "when a job would start, were it submitted now: by a trace, or else by the daemon",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<QuoteOptions>();
          line.Option("--gpus", o->gpus, "GPUs of the job").Required();
          line.Option("--limit", o->limit, "time limit of the job").Duration();
          line.Option("--type", o->type, "GPU type that it accepts; several: 'a100|v100'")
              .DefaultText("any");
          line.Option("--user", o->user, "who would submit it, by the names of the trace");
          line.Option("--account", o->account, "the account that would pay for it, likewise");
          line.Option("--state", o->state, std::string("without a trace: ") + kStateHelp);
          DeclareForecastSource(line, o->source);
          return [o, &line, &globals] {
            const bool of_source =
                !line.Given("workload").empty() || !line.Given("setting").empty();
            for (const char* name : {"cluster", "policy", "at", "history", "rules"}) {
              if (of_source || line.Given(name).empty()) continue;
              throw UsageError("--{} is for a quote from a trace (--workload), got no trace", name);
            }
            return ShowQuote(*o, of_source, globals);
          };
        }}));

}  // namespace
}  // namespace allot
