// allot serve: a policy schedules a real cluster.

#include <fmt/ranges.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/command.h"
#include "cli/program.h"
#include "cli/state_folder.h"
#include "cli/typed_command.h"
#include "core/interrupt.h"
#include "core/lean_heap.h"
#include "core/strings.h"
#include "episode_log/live_log.h"
#include "live/daemon/daemon.h"
#include "live/daemon/daemon_status.h"
#include "live/runtimes/runtime.h"
#include "live/screens/status_table.h"
#include "live/status/status_json.h"
#include "plugin/plugin_policy.h"
#include "sched/online_policy.h"
#include "sched/policy_family.h"
#include "wait_forecast/live_forecast.h"
#include "workload/history_file.h"

namespace allot {
namespace {

// Options that SIGHUP changes; the others need a restart.
constexpr std::array<std::string_view, 3> kReloaded = {"rules", "interval", "poll"};

// The default policy of a cluster with a topology.
constexpr const char* kKeepsTogether = "index:placement=tree";

struct ServeOptions {
  std::string runtime = "local";
  std::string policy;
  std::string checkpoint;
  std::string plugin;
  std::string state;
  std::string catalogue;
  std::string rules;
  std::string topology;
  std::string shadow;
  std::string shadow_checkpoint;
  std::string metrics;
  bool metrics_for_all = false;
  std::string log_root;
  std::string out;
  double forecast_every = 10;
  std::string forecast_history;
  std::string calibration;
  bool watch = false;
  bool json_logs = false;
  bool stop_jobs = false;
  bool standby = false;
  LiveOptions live;
};

// Prints the message as one line without control characters, because names and comments in it are
// users' texts; with `json` as a JSON string.
class OneLine : public spdlog::custom_flag_formatter {
 public:
  explicit OneLine(bool json) : json_(json) {}
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string_view said(message.payload.data(), message.payload.size());
    const std::string text = json_ ? AsciiJson(said) : Printable(said);
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<OneLine>(json_);
  }

 private:
  static std::string AsciiJson(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }

  bool json_;
};

void LogToStderr(bool json, bool quiet) {
  auto logger = spdlog::stderr_color_mt("allot");
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<OneLine>('*', json).set_pattern(
      json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%f%z","level":"%l","pid":%P,"message":%*})"
           : "%Y-%m-%d %H:%M:%S.%e %^%l%$ %*");
  logger->set_formatter(std::move(formatter));
  logger->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

// The spec of a policy or a checkpoint; "" if neither is given.
std::string SpecOf(const std::string& policy, const std::string& checkpoint, const char* role) {
  if (!checkpoint.empty() && !policy.empty()) {
    throw UsageError("one policy {}: checkpoint '{}' or policy '{}', not both", role, checkpoint,
                     policy);
  }
  return checkpoint.empty() ? policy : "learned:checkpoint=" + checkpoint;
}

std::shared_ptr<const OperatorRules> RulesOf(const ServeOptions& o) {
  return std::make_shared<const OperatorRules>(o.rules.empty() ? OperatorRules()
                                                               : OperatorRules::FromFile(o.rules));
}

// systemd makes this folder (RuntimeDirectory=), which any user can enter, for the service.
std::optional<std::filesystem::path> UserSocket() {
  const char* const folder = std::getenv("RUNTIME_DIRECTORY");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return Daemon::UserSocketIn(folder);
}

void DeclareServe(CommandLine& line, ServeOptions& o);

// Reads command line and config file again. Reports options that differ from `first`, those with
// which the daemon started, and need a restart.
DaemonSettings ReadAgain(const GivenOptions& first) {
  ServeOptions o;
  const GivenOptions now = ParseAgain("serve", [&o](CommandLine& line) { DeclareServe(line, o); });
  DaemonSettings settings{{o.live.interval, o.live.poll, RulesOf(o)}, {}};
  if (!o.rules.empty()) settings.rules = o.rules;
  std::set<std::string> changed;
  for (const auto& [from, to] : {std::pair(&first, &now), std::pair(&now, &first)}) {
    for (const auto& [name, values] : *from) {
      const auto other = to->find(name);
      if (other == to->end() || other->second != values) changed.insert("--" + name);
    }
  }
  for (const std::string_view name : kReloaded) changed.erase(fmt::format("--{}", name));
  spdlog::info("read again: interval {:g} s, poll {:g} s, rules {}", settings.live.interval,
               settings.live.poll, o.rules.empty() ? "none" : o.rules);
  if (!changed.empty()) {
    spdlog::warn("changes of {} need a restart", fmt::join(changed, ", "));
  }
  return settings;
}

// Makes the policy in this program, or through the C interface of a library.
std::unique_ptr<Policy> MakeActivePolicy(const std::string& library, const std::string& spec) {
  return library.empty() ? MakeOnlinePolicy(spec, FileLoader()) : MakePluginPolicy(library, spec);
}

// Null if forecasts are switched off, if the policy is in a library, which may not allow a second
// object, or in Python, where forecasts would delay its decisions.
std::unique_ptr<LiveForecast> MakeForecasts(const ServeOptions& o, const DaemonOptions& options,
                                            Daemon& daemon) {
  const bool elsewhere = !o.plugin.empty() || FamilyOf(options.policy) != nullptr;
  if (o.forecast_every == 0 || elsewhere) return nullptr;
  LiveForecast::Settings settings;
  settings.every = o.forecast_every;
  settings.rules.decide_on_events = o.live.decide_on_events;
  settings.forecast.settle = 3600;
  settings.catalogue = options.live.job_table.catalogue;
  settings.origin = daemon.cluster().origin();
  settings.job_of = [&daemon](JobIndex index) {
    const LiveJob& job = daemon.cluster().state().job_table().jobs().at(index);
    return LiveForecast::KnownJob{job.asked->id, {job.submitter, job.rules, job.asks()}};
  };
  settings.rules_in_force = [&daemon] {
    const LiveCluster& cluster = daemon.cluster();
    RulesInForce in_force{cluster.options().job_table.rules};
    if (cluster.HasFairShares()) in_force.usage = cluster.state().job_table().usage();
    return in_force;
  };
  if (!o.forecast_history.empty()) settings.history = ReadHistory(o.forecast_history);
  if (!o.calibration.empty()) {
    settings.calibration = ForecastCalibration::FromFile(o.calibration);
  }
  settings.nominal = [&daemon] { return daemon.cluster().state().job_table().nominal(); };
  settings.quotes =
      std::make_shared<LiveQuotes>(LiveQuotes::Settings{settings.rules, settings.forecast,
                                                        settings.calibration, settings.origin},
                                   MakeOnlinePolicy(options.policy, FileLoader()));
  daemon.AnswerQuotes(settings.quotes);
  return std::make_unique<LiveForecast>(std::move(settings),
                                        MakeOnlinePolicy(options.policy, FileLoader()));
}

int Serve(ServeOptions& o, const GivenOptions& given, const GlobalOptions& globals) {
  InstallServiceHandlers();
  KeepHeapLean();
  ::prctl(PR_SET_DUMPABLE, 0);  // no core dump, and no other process, shows jobs' tokens
  LogToStderr(o.json_logs, globals.quiet || o.watch);
  DaemonOptions options;
  options.state = StateFolder(o.state);
  options.runtime = o.runtime;
  options.policy = SpecOf(o.policy, o.checkpoint, "is active");
  if (options.policy.empty()) options.policy = o.topology.empty() ? "index" : kKeepsTogether;
  options.metrics = o.metrics;
  options.metrics_for_all = o.metrics_for_all;
  options.stop_jobs = o.stop_jobs;
  options.standby = o.standby;
  options.live = o.live;
  if (!o.live.dry_run) options.user_socket = UserSocket();
  // The results of all jobs are written at the end.
  if (!o.log_root.empty() || !o.out.empty()) {
    options.live.job_table.keep_ended = std::numeric_limits<std::size_t>::max();
  }
  Catalogue own;
  if (!o.catalogue.empty()) {
    own = Catalogue::FromName(o.catalogue);
    options.live.job_table.catalogue = &own;
  }
  options.live.job_table.rules = RulesOf(o);
  if (!o.topology.empty()) {
    options.live.topology = ReadTopologyOfNodes(o.topology);
    if (options.policy.find("placement=tree") == std::string::npos) {
      spdlog::warn("--topology: policy '{}' places jobs without it, unlike '{}'", options.policy,
                   kKeepsTogether);
    }
  }
  if (!o.rules.empty()) options.rules = o.rules;
  if (options.live.dry_run) {
    if (o.standby) throw UsageError("--dry-run takes nothing over: not with --standby");
    options.state /= "dry-run";  // so that it can run beside the active daemon
    if (!o.log_root.empty() || !o.out.empty()) {
      throw UsageError("--dry-run runs nothing: there is nothing for --log '{}' or --out '{}'",
                       o.log_root, o.out);
    }
  }
  std::unique_ptr<Policy> policy = MakeActivePolicy(o.plugin, options.policy);
  const std::string name = policy->info().id;
  const std::string shadow_spec = SpecOf(o.shadow, o.shadow_checkpoint, "is the shadow");
  std::unique_ptr<Shadow> shadow;
  std::string shadow_name;
  if (!shadow_spec.empty()) {
    std::unique_ptr<Policy> beside = MakeOnlinePolicy(shadow_spec, FileLoader());
    shadow_name = "shadow-" + beside->info().id;
    shadow = std::make_unique<Shadow>(shadow_spec, std::move(beside));
  }
  Shadow* const beside = shadow.get();
  std::unique_ptr<Daemon> made;
  try {
    made = std::make_unique<Daemon>(options, std::move(policy), std::move(shadow));
  } catch (const Error& error) {
    if (error.code() != ExitCode::kInterrupted) throw;
    spdlog::info("interrupted as a standby, before it became active");
    return static_cast<int>(ExitCode::kOk);
  }
  Daemon& daemon = *made;

  std::vector<std::unique_ptr<LiveLog>> logs;
  std::vector<DecisionListener*> listeners;
  if (!o.log_root.empty() || !o.out.empty()) {
    logs.push_back(std::make_unique<LiveLog>(
        LiveLog::Options{o.log_root, o.out, options.policy, name, TypedCommand()}, daemon));
    listeners.push_back(logs.back().get());
  }
  if (beside != nullptr && !o.log_root.empty()) {
    logs.push_back(std::make_unique<LiveLog>(
        LiveLog::Options{o.log_root, "", shadow_spec, shadow_name, TypedCommand()}, daemon));
    beside->LogTo(logs.back().get());
  }
  const std::unique_ptr<LiveForecast> forecasts = MakeForecasts(o, options, daemon);
  if (forecasts != nullptr) {
    daemon.Show(*forecasts);
    listeners.push_back(forecasts.get());
  }
  daemon.OnReload([&given] { return ReadAgain(given); });
  StatusScreen screen;
  std::function<void(const DaemonStatus&)> watch;
  if (o.watch) watch = [&screen](const DaemonStatus& status) { screen.Draw(status); };
  daemon.Run(listeners, watch);
  AcknowledgeInterrupt();  // the run is over, its results must still be written
  for (const auto& log : logs) {
    for (const std::string& line : log->End(options.runtime)) spdlog::info("{}", line);
  }
  int unfinished = 0;
  for (const auto& [index, job] : daemon.cluster().state().job_table().jobs()) {
    unfinished += job.over && job.record.finish == kNever ? 1 : 0;
  }
  if (globals.json) {
    const DaemonStatus status = MakeStatus(daemon.cluster(), DecisionCounts{}, options);
    std::printf("%s\n", WriteStatus(status, 2).c_str());
  }
  // Without --until-idle an interrupt is the normal end, whatever the state of the jobs.
  return static_cast<int>(unfinished == 0 || !o.live.until_idle ? ExitCode::kOk
                                                                : ExitCode::kRunFailed);
}

void DeclareServe(CommandLine& line, ServeOptions& o) {
  line.Option("--runtime", o.runtime,
              "what starts and stops processes, e.g. local:cluster=2x4; see 'allot list "
              "runtimes'")
      .ShowDefault();
  line.Option("--checkpoint", o.checkpoint, "checkpoint folder of the trained policy that decides")
      .Topic("Policy");
  line.Option("-p,--policy", o.policy, "or the name of any other policy [index]").Topic("Policy");
  line.Option("--plugin", o.plugin,
              "shared library with the policy, called through the C interface of "
              "liballot_plugin.so [none: the policy is in allot itself]")
      .Detail("Policy");
  line.Option("--shadow", o.shadow,
              "second policy: its decisions are compared and logged, never applied")
      .Topic("Policy");
  line.Option("--shadow-checkpoint", o.shadow_checkpoint,
              "or the checkpoint folder of a trained policy")
      .Detail("Policy");
  line.Option("--log", o.log_root,
              "Minari datasets folder for the HDF5 episode log, written at the end")
      .Topic("What is shown and kept");
  line.Option("-o,--out", o.out,
              "folder for the results of this run, for 'allot report', written at the end")
      .Topic("What is shown and kept");
  line.Option("--state", o.state,
              "folder for journal and socket [ALLOT_STATE, or ~/.local/state/allot]");
  line.Option("--catalogue", o.catalogue,
              "CSV of the throughput of your models (docs/formats/catalogue.md), or a name that "
              "'allot list catalogues' shows, instead of 'embedded'")
      .Detail("Decisions");
  line.Option("--rules", o.rules,
              "TOML file of the operator's rules on sizes and changes of jobs "
              "(docs/rules.md), or a --config file with a table [rules] [none]")
      .Topic("Decisions");
  line.Option(
          "--topology", o.topology,
          "file of the nodes' leaves and pods, e.g. topology.conf (docs/topology.md): jobs with "
          "a comm_share lie close together [none: every place is alike]")
      .Topic("Decisions");
  line.Option("--interval", o.live.interval, "seconds between scheduled decisions")
      .Duration()
      .Range(0.05, 86400.0)
      .ShowDefault()
      .Topic("Decisions");
  line.Option("--poll", o.live.poll, "seconds between polls of the runtime")
      .Duration()
      .Range(0.01, 60.0)
      .ShowDefault()
      .Detail("Decisions");
  line.Option("--restart-cost", o.live.job_table.restart_cost,
              "seconds of progress that a resize costs a job, as given to policies")
      .Duration()
      .NonNegative()
      .ShowDefault()
      .Detail("Decisions");
  line.Option("--keep-jobs", o.live.job_table.keep_ended,
              "ended jobs that stay in memory, the newest ones; all of them with --log or "
              "--out")
      .ShowDefault()
      .Detail("What is shown and kept");
  line.Option("--worker-timeout", o.live.job_table.worker_group.hung_after,
              "seconds without a message after which a worker is stopped")
      .Duration()
      .Positive()
      .ShowDefault()
      .Detail("Decisions");
  line.Option("--stalled-after", o.live.job_table.worker_group.stalled_after,
              "seconds without a step after which the living workers of a job are replaced; at "
              "least ten times the job's longest pause before; 0: never")
      .Duration()
      .NonNegative()
      .ShowDefault()
      .Detail("Decisions");
  line.Option("--metrics", o.metrics, "address for Prometheus, e.g. tcp:127.0.0.1:9101 [none]")
      .Topic("What is shown and kept");
  line.Flag("--metrics-for-all", o.metrics_for_all,
            "allow an address for --metrics that other machines can reach")
      .Detail("What is shown and kept");
  line.Option("--forecast-every", o.forecast_every,
              "seconds between wait forecasts, at least; 0: no forecasts")
      .Duration()
      .Range(0.0, 86400.0)
      .ShowDefault()
      .Detail("Forecasts");
  line.Option("--forecast-history", o.forecast_history,
              "TRACE@DATE from which forecasts draw lengths and arrivals, e.g. the journal "
              "of the state folder [none: no further jobs arrive]")
      .Detail("Forecasts");
  line.Option("--calibration", o.calibration,
              "file of 'allot forecast --fit', which corrects forecasts")
      .Detail("Forecasts");
  line.Flag("--dry-run", o.live.dry_run, "print decisions, change nothing");
  line.Flag("--standby", o.standby,
            "wait until no other daemon is active on the cluster, then take over");
  line.Flag("--until-idle", o.live.until_idle, "end when no job is left");
  line.Flag("--stop-jobs", o.stop_jobs,
            "stop all jobs with a checkpoint at the end (default: they keep running)");
  line.Flag("--watch", o.watch, "show the table of jobs instead of the log")
      .Topic("What is shown and kept");
  line.Flag("--json-logs", o.json_logs, "log lines as JSON, one object per line")
      .Detail("What is shown and kept");
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{"serve", "let a policy place and resize the jobs of a real cluster",
                            [](CommandLine& line, const GlobalOptions& globals) {
                              auto o = std::make_shared<ServeOptions>();
                              DeclareServe(line, *o);
                              return
                                  [o, &line, &globals] { return Serve(*o, line.Given(), globals); };
                            }}));

}  // namespace
}  // namespace allot
