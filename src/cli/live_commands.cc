// allot status, queue, pause, resume, drain and cancel: words with a running daemon.

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command.h"
#include "cli/live_status.h"
#include "core/interrupt.h"
#include "core/json_text.h"
#include "live/control_server.h"
#include "live/daemon.h"
#include "live/standby_note.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

std::shared_ptr<std::string> DeclareState(CommandLine& line) {
  auto state = std::make_shared<std::string>();
  line.Option("--state", *state, "the daemon's folder [~/.local/state/allot]");
  return state;
}

Json Ask(const std::string& state, const Json& request) {
  const std::filesystem::path folder = StateFolder(state);
  if (const auto standby = StandbyIn(folder)) {
    throw RunError("the daemon of '{}' {}; it has nothing to say yet", folder.string(),
                   standby->Text());
  }
  return AskDaemon(Daemon::SocketIn(folder).string(), request);
}

// True where the daemon is one.
bool ShowStandby(const std::string& state, const GlobalOptions& globals) {
  const auto standby = StandbyIn(StateFolder(state));
  if (!standby) return false;
  const Json json = {{"standby", {{"process", standby->process}, {"waits", standby->why}}}};
  const std::string text = globals.json ? JsonText(json) : standby->Text();
  std::printf("%s\n", text.c_str());
  return true;
}

int ShowStatus(const std::string& state, bool watch, bool eta, const GlobalOptions& globals) {
  StatusScreen screen;
  do {
    if (ShowStandby(state, globals)) {
      if (watch) std::this_thread::sleep_for(std::chrono::seconds(1));
      continue;
    }
    const Json status = Ask(state, {{"do", "status"}});
    if (globals.json) {
      std::printf("%s\n", JsonText(status, watch ? -1 : 2).c_str());
    } else if (eta) {
      std::printf("%s", EtaText(status).c_str());
      std::fflush(stdout);
    } else if (watch) {
      screen.Draw(status);
    } else {
      std::printf("%s", StatusText(status).c_str());
    }
    if (watch) std::this_thread::sleep_for(std::chrono::seconds(1));
  } while (watch && !Interrupted());
  return 0;
}

// The waiting jobs, in order of submission.
int Queue(const std::string& state, const GlobalOptions& globals) {
  Json status = Ask(state, {{"do", "status"}});
  Json waiting = Json::array();
  for (const Json& job : status["jobs"]) {
    if (job["gpus"] == 0) waiting.push_back(job);
  }
  status["jobs"] = std::move(waiting);
  std::printf(
      "%s", globals.json ? (JsonText(status["jobs"]) + "\n").c_str() : StatusText(status).c_str());
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "status", "what a running daemon does",
                   [](CommandLine& line, const GlobalOptions& globals) {
                     auto state = DeclareState(line);
                     auto watch = std::make_shared<bool>(false);
                     auto eta = std::make_shared<bool>(false);
                     line.Flag("-w,--watch", *watch, "repeat until Ctrl-C");
                     line.Flag("--eta", *eta, "when jobs will start and end (docs/forecast.md)");
                     return [=, &globals] { return ShowStatus(*state, *watch, *eta, globals); };
                   }}));

ALLOT_REGISTER(CommandInfo, (CommandInfo{"queue", "jobs that wait for GPUs of a running daemon",
                                         [](CommandLine& line, const GlobalOptions& globals) {
                                           auto state = DeclareState(line);
                                           return [=, &globals] { return Queue(*state, globals); };
                                         }}));

CommandInfo Order(const char* what, const char* summary) {
  return {what, summary, [what](CommandLine& line, const GlobalOptions&) {
            auto state = DeclareState(line);
            auto node = std::make_shared<std::string>();
            auto undo = std::make_shared<bool>(false);
            if (std::string_view(what) == "drain") {
              line.Option("--node", *node, "only this node: its jobs are moved away");
              line.Flag("--undo", *undo, "end the drain, of the node or of all jobs");
            }
            return [=] {
              Json request = {{"do", what}};
              if (!node->empty()) request["node"] = *node;
              if (*undo) request["undo"] = true;
              Ask(*state, request);
              return 0;
            };
          }};
}

ALLOT_REGISTER(CommandInfo,
               Order("pause",
                     "stop the decisions of a running daemon until 'resume'; jobs keep running"));
ALLOT_REGISTER(CommandInfo, Order("resume", "end a pause; drains stay"));
ALLOT_REGISTER(CommandInfo, Order("drain", "let no job begin, or empty a node"));

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "cancel", "end a job of a running daemon; its workers are stopped",
                   [](CommandLine& line, const GlobalOptions&) {
                     auto state = DeclareState(line);
                     auto job = std::make_shared<std::string>();
                     line.Option("job", *job, "name as shown by 'allot status'").Required();
                     return [=] {
                       Ask(*state, {{"do", "cancel"}, {"job", *job}});
                       return 0;
                     };
                   }}));

}  // namespace
}  // namespace allot
