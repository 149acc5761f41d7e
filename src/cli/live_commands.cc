// allot status, queue, nodes, pause, resume, drain and cancel: requests to a running daemon.

#include <chrono>
#include <cstdio>
#include <thread>

#include "cli/command.h"
#include "cli/state_folder.h"
#include "core/interrupt.h"
#include "core/strings.h"
#include "live/daemon/control_server.h"
#include "live/screens/nodes_table.h"
#include "live/screens/queue_table.h"
#include "live/screens/status_table.h"
#include "live/state/standby_note.h"
#include "live/status/status_json.h"

namespace allot {
namespace {

std::shared_ptr<std::string> DeclareState(CommandLine& line) {
  auto state = std::make_shared<std::string>();
  line.Option("--state", *state, kStateHelp);
  return state;
}

// True if the daemon is a standby.
bool ShowStandby(const std::string& state, const GlobalOptions& globals) {
  const auto standby = StandbyIn(FindStateFolder(state));
  if (!standby) return false;
  const std::string text = globals.json ? standby->ToJson() : standby->Text();
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
    const DaemonStatus status = AskStatus(StatusSockets(state));
    if (globals.json) {
      std::printf("%s\n", WriteStatus(status, watch ? kOneLine : 2).c_str());
    } else if (eta) {
      std::printf("%s", ForecastText(status).c_str());
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
  const DaemonStatus status = AskStatus(StatusSockets(state));
  const std::string text =
      globals.json ? WriteJobs(WaitingJobs(status), 2) + "\n" : QueueText(status);
  std::printf("%s", text.c_str());
  return 0;
}

int Nodes(const std::string& state, const GlobalOptions& globals) {
  const DaemonStatus status = AskStatus(StatusSockets(state));
  const std::string text = globals.json ? WriteNodes(status.nodes, 2) + "\n" : NodesText(status);
  std::printf("%s", text.c_str());
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "status", "jobs, nodes and faults of a running daemon",
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

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{"nodes", "nodes of a running daemon, and which jobs accuse them",
                            [](CommandLine& line, const GlobalOptions& globals) {
                              auto state = DeclareState(line);
                              return [=, &globals] { return Nodes(*state, globals); };
                            }}));

// Prints what was done, or with --json the daemon's reply.
int PrintDone(const ControlReply& reply, const std::string& done, const GlobalOptions& globals) {
  std::printf("%s\n", globals.json ? WriteReply(reply).c_str() : Printable(done).c_str());
  return 0;
}

int PauseDecisions(const std::string& state, const GlobalOptions& globals) {
  const ControlReply reply = AskDaemon(ControlSockets(state), {ControlAction::kPause});
  return PrintDone(reply, "paused: jobs run on as they are until 'allot resume'", globals);
}

int ResumeDecisions(const std::string& state, const GlobalOptions& globals) {
  const ControlReply reply = AskDaemon(ControlSockets(state), {ControlAction::kResume});
  return PrintDone(reply,
                   reply.drained
                       ? "resumed; still drained: no job begins until 'allot drain --undo'"
                       : "resumed: decisions go on",
                   globals);
}

int Drain(const std::string& state, const std::string& node, bool undo,
          const GlobalOptions& globals) {
  ControlRequest request{ControlAction::kDrain, {}, {}, undo};
  if (!node.empty()) request.node = node;
  const ControlReply reply = AskDaemon(ControlSockets(state), request);
  std::string done;
  if (!reply.node) {
    const char* const end = reply.paused ? "no longer drained; still paused until 'allot resume'"
                                         : "no longer drained: jobs may begin";
    done = undo ? end : "drained: no job begins until 'allot drain --undo'; those that run go on";
  } else {
    const char* const end = reply.node->state == NodeState::kDrained
                                ? "still drained, by the cluster itself"
                                : "no longer drained";
    done = undo ? fmt::format("node {} is {}", node, end)
                : fmt::format(
                      "node {} is drained until 'allot drain --node {} --undo': its jobs "
                      "are moved away",
                      node, node);
  }
  return PrintDone(reply, done, globals);
}

int CancelJob(const std::string& state, const std::string& job, const GlobalOptions& globals) {
  const ControlReply reply = AskDaemon(ControlSockets(state), {ControlAction::kCancel, job});
  return PrintDone(reply, fmt::format("job {} is cancelled; what runs of it is stopped", job),
                   globals);
}

// A command whose only option is the daemon's folder.
CommandInfo Order(const char* name, const char* summary,
                  int (*act)(const std::string& state, const GlobalOptions& globals)) {
  return {name, summary, [act](CommandLine& line, const GlobalOptions& globals) {
            auto state = DeclareState(line);
            return [=, &globals] { return act(*state, globals); };
          }};
}

ALLOT_REGISTER(CommandInfo,
               Order("pause",
                     "stop the decisions of a running daemon until 'resume'; jobs keep running",
                     PauseDecisions));
ALLOT_REGISTER(CommandInfo, Order("resume", "end a pause; drains remain", ResumeDecisions));

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "drain", "start no more jobs, or empty a node",
                   [](CommandLine& line, const GlobalOptions& globals) {
                     auto state = DeclareState(line);
                     auto node = std::make_shared<std::string>();
                     auto undo = std::make_shared<bool>(false);
                     line.Option("--node", *node, "only this node: its jobs are moved away");
                     line.Flag("--undo", *undo, "end the drain, of the node or of all jobs");
                     return [=, &globals] { return Drain(*state, *node, *undo, globals); };
                   }}));

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "cancel", "end a job of a running daemon; its workers are stopped",
                   [](CommandLine& line, const GlobalOptions& globals) {
                     auto state = DeclareState(line);
                     auto job = std::make_shared<std::string>();
                     line.Option("job", *job, "name as shown by 'allot status'").Required();
                     return [=, &globals] { return CancelJob(*state, *job, globals); };
                   }}));

}  // namespace
}  // namespace allot
