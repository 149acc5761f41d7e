// allot serve: a policy in charge of a cluster that is real.

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/live_status.h"
#include "core/json_text.h"
#include "live/daemon.h"
#include "live/runtime.h"
#include "plugin/plugin_policy.h"

namespace allot {
namespace {

struct ServeOptions {
  std::string runtime = "local";
  std::string policy;
  std::string checkpoint;
  std::string plugin;
  std::string state;
  std::string metrics;
  bool watch = false;
  bool json_logs = false;
  bool stop_jobs = false;
  LiveOptions live;
};

// The message as JSON text, without quotes.
class JsonMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string text =
        JsonText(nlohmann::json(std::string(message.payload.data(), message.payload.size())), -1);
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessage>();
  }
};

void LogToStderr(bool json, bool quiet) {
  auto logger = spdlog::stderr_color_mt("allot");
  if (json) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<JsonMessage>('*').set_pattern(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%f%z","level":"%l","pid":%P,"message":%*})");
    logger->set_formatter(std::move(formatter));
  } else {
    logger->set_pattern("%H:%M:%S.%e %^%l%$ %v");
  }
  logger->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

std::string PolicySpec(const ServeOptions& o) {
  if (!o.checkpoint.empty() && !o.policy.empty()) {
    throw UsageError("one is in charge: --checkpoint '{}' or --policy '{}', not both", o.checkpoint,
                     o.policy);
  }
  if (!o.checkpoint.empty()) return "learned:checkpoint=" + o.checkpoint;
  return o.policy.empty() ? "index" : o.policy;
}

int Serve(ServeOptions& o, const GlobalOptions& globals) {
  LogToStderr(o.json_logs, globals.quiet || o.watch);
  DaemonOptions options;
  options.state = StateFolder(o.state);
  options.runtime = o.runtime;
  options.policy = PolicySpec(o);
  options.metrics = o.metrics;
  options.stop_jobs = o.stop_jobs;
  options.live = o.live;
  if (options.live.dry_run) options.state /= "dry-run";  // beside a daemon that is in charge
  Daemon daemon(options, MakePluginPolicy(o.plugin, options.policy));
  StatusScreen screen;
  daemon.Run({}, [&](const nlohmann::ordered_json& status) {
    if (o.watch) screen.Draw(status);
  });
  int unfinished = 0;
  for (const auto& job : daemon.cluster().state().book().jobs()) {
    unfinished += job->over && job->record.finish == kNever ? 1 : 0;
  }
  if (globals.json) {
    std::printf("%s\n", JsonText(StatusJson(daemon.cluster(), DecisionCounts{}, options)).c_str());
  }
  return static_cast<int>(unfinished == 0 ? ExitCode::kOk : ExitCode::kRunFailed);
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "serve", "let a policy place and resize the jobs of a real cluster",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<ServeOptions>();
          line.Option("--runtime", o->runtime,
                      "what runs the jobs, e.g. local:cluster=2x4; see 'allot list runtimes'")
              .ShowDefault();
          line.Option("--checkpoint", o->checkpoint, "trained policy that decides");
          line.Option("-p,--policy", o->policy, "or any other policy [index]");
          line.Option("--plugin", o->plugin,
                      "library that the policy is in: liballot_plugin.so, or another with its "
                      "C interface [allot itself]");
          line.Option("--state", o->state, "folder for journal and socket [~/.local/state/allot]");
          line.Option("--interval", o->live.interval, "seconds between scheduled decisions")
              .Range(0.05, 86400.0)
              .ShowDefault();
          line.Option("--poll", o->live.poll, "seconds between looks at the runtime")
              .Range(0.01, 60.0)
              .ShowDefault();
          line.Option("--restart-cost", o->live.book.restart_cost,
                      "seconds that a hot resize costs a job, as policies are told")
              .NonNegative()
              .ShowDefault();
          line.Option("--hung-after", o->live.book.group.hung_after,
                      "seconds of silence after which a worker is ended")
              .Positive()
              .ShowDefault();
          line.Option("--metrics", o->metrics,
                      "address for Prometheus, e.g. tcp:127.0.0.1:9101 [none]");
          line.Flag("--dry-run", o->live.dry_run, "say what would be done, and do nothing");
          line.Flag("--until-idle", o->live.until_idle, "end when no job is left");
          line.Flag("--stop-jobs", o->stop_jobs,
                    "at the end stop all jobs, with a checkpoint; else they run on");
          line.Flag("--watch", o->watch, "show the table of jobs instead of the log");
          line.Flag("--json-logs", o->json_logs, "the log as JSON, one object a line");
          return [o, &globals] { return Serve(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
