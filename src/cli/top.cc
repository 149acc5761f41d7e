// allot top: nodes, jobs and events of a running daemon, or of a simulation while it goes.

#include "live/screens/top.h"

#include <chrono>
#include <cstdio>

#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/state_folder.h"
#include "cli/top_run.h"
#include "core/interrupt.h"
#include "core/terminal.h"
#include "experiment/world.h"
#include "live/daemon/control_server.h"
#include "sim/run.h"

namespace allot {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kEventsKept = 100;
constexpr int kPlainRows = 50;  // without a terminal
constexpr int kPlainColumns = 160;
constexpr double kLeastMs = 40;  // between two drawings of a simulation

// Shows views one after the other, with the events between them.
class Screen {
 public:
  void Show(const TopView& view) {
    if (shown_) {
      for (std::string& event : EventsBetween(last_, view)) events_.push_back(std::move(event));
      while (events_.size() > kEventsKept) events_.pop_front();
    }
    last_ = view;
    shown_ = true;
    terminal_.Show(DrawTop(view, events_, terminal_.rows() - 1, terminal_.columns()));
  }
  Terminal& terminal() { return terminal_; }

 private:
  Terminal terminal_;
  TopView last_;
  bool shown_ = false;
  std::deque<std::string> events_;
};

void Print(const TopView& view) {
  std::fputs(DrawTop(view, {}, kPlainRows, kPlainColumns).c_str(), stdout);
}

int WatchDaemon(const std::string& state) {
  const std::vector<std::string> sockets = StatusSockets(state);
  const auto ask = [&] {
    TopView view = TopViewOf(AskStatus(sockets));
    view.keys = "q: quit";
    return view;
  };
  const TopView first = ask();
  if (!Terminal::Here()) {
    Print(first);
    return 0;
  }
  Screen screen;
  screen.Show(first);
  while (!Interrupted() && screen.terminal().Key(milliseconds(1000)) != 'q') screen.Show(ask());
  return 0;
}

// Simulated time passes `speed` times as fast as real time; keys change that.
int WatchSimulation(const WorldSpec& spec, const std::string& policy_spec, double speed) {
  World world(spec);
  const auto scenarios = world.Scenarios();
  const Scenario& scenario = *scenarios.front().scenario;
  const std::unique_ptr<Policy> policy = world.MakePolicy(policy_spec);
  if (!Terminal::Here()) {
    throw UsageError("watching a simulation needs a terminal as standard input and output");
  }
  Screen screen;
  bool still = false;
  Seconds last = 0;
  double owed_ms = 0;  // real time since the last drawing
  struct Quit {};
  TopListener listener(scenario, "policy " + policy_spec, [&](TopView view) {
    owed_ms += 1000 * std::max(0.0, view.now - last) / speed;
    last = view.now;
    if (!still && owed_ms < kLeastMs) return;
    do {
      view.keys = fmt::format("q: quit, space: {}, + and -: {:.0f} times real time",
                              still ? "go on" : "stop", speed);
      screen.Show(view);
      const double wait_ms = still ? 1000 : std::min(1000.0, owed_ms);
      const char key = screen.terminal().Key(milliseconds(static_cast<int>(wait_ms)));
      owed_ms = still ? 0 : owed_ms - wait_ms;
      if (key == 'q' || Interrupted()) throw Quit();
      if (key == ' ') still = !still;
      if (key == '+') speed *= 2;
      if (key == '-') speed /= 2;
    } while (still || owed_ms >= kLeastMs);
  });
  DecisionListener* const listeners[] = {&listener};
  try {
    RunPolicy(scenario, *policy, listeners);
  } catch (const Quit&) {
    return 0;
  }
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "top", "live view of nodes, jobs and events of a running daemon or a simulation",
                   [](CommandLine& line, const GlobalOptions&) {
                     struct Options {
                       WorldSpec world;
                       std::string state;
                       std::string policy;
                       double speed = 3600;
                     };
                     auto o = std::make_shared<Options>();
                     line.Option("--state", o->state, kStateHelp);
                     line.Option("-p,--policy", o->policy,
                                 "watch a simulation of this policy instead of a daemon");
                     line.Option("--speed", o->speed, "of a simulation, times real time")
                         .Positive()
                         .ShowDefault();
                     DeclareWorld(line, o->world, BareWord::kWorkload);
                     line.Exclude("state", {"policy"});
                     return [o] {
                       return o->policy.empty() ? WatchDaemon(o->state)
                                                : WatchSimulation(o->world, o->policy, o->speed);
                     };
                   }}));

}  // namespace
}  // namespace allot
