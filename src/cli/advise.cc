// allot advise: orders the waiting jobs of a scheduler that allot does not replace.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "advice/adviser.h"
#include "cli/command.h"
#include "cli/state_folder.h"
#include "core/counted.h"
#include "core/interrupt.h"
#include "core/json_text.h"
#include "core/strings.h"
#include "core/wall_clock.h"
#include "metrics/humanise.h"
#include "metrics/table.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct AdviseOptions {
  std::string runtime = "slurm";
  std::vector<std::string> partitions;
  std::string state;
  double interval = 60;
  AdviceOptions advice;
  bool once = false;
  bool write = false;
  bool undo = false;
  bool worth = false;
};

std::unique_ptr<AdviceTarget> MakeTarget(const AdviseOptions& o) {
  const NamedParams named = ParseNamedParams(o.runtime);
  const auto& info = Registry<AdviceTargetInfo>::Global().Get("runtime with advice", named.name);
  return info.make(Params(fmt::format("runtime '{}'", info.id), info.params, named.given),
                   o.partitions);
}

void PrintChanges(const Advice& advice, const AdviceTarget& target) {
  using Align = TextTable::Align;
  TextTable table({{"job", Align::kLeft},
                   {"user", Align::kLeft},
                   {"queue", Align::kLeft},
                   {"waits"},
                   {"own place"},
                   {"advised"},
                   {"Nice now"},
                   {"Nice then"}});
  for (const AdvisedChange& one : advice.changes) {
    table.AddRow({one.change.job, Printable(one.change.user), Printable(one.queue),
                  HumanDuration(one.waits), std::to_string(one.own), std::to_string(one.advised),
                  std::to_string(one.change.before), std::to_string(one.change.after)});
  }
  std::fputs(table.ToText().c_str(), stdout);
  std::printf("\n");
  for (const AdvisedChange& one : advice.changes) {
    std::printf("%s\n", target.CommandFor(one.change.job, one.change.after).c_str());
  }
}

// "alice 12m 05s -> 8m 10s"
std::string WaitText(const MeanWait& mean) {
  return fmt::format("{} -> {}", HumanDuration(mean.own), HumanDuration(mean.advised));
}

void PrintQueue(const QueueAdvice& queue) {
  std::printf("%s: %s", Printable(queue.queue).c_str(),
              Counted(static_cast<std::int64_t>(queue.waiting), "waiting job").c_str());
  std::string left;
  for (const auto& [why, jobs] : queue.left_alone) {
    left += fmt::format("{}{} {}", left.empty() ? "" : ", ", jobs, Printable(why));
  }
  std::printf("%s\n", left.empty() ? "" : ("; left alone: " + left).c_str());
  if (!queue.order.refused.empty()) {
    std::printf("  the scheduler's own order stays: %s\n", Printable(queue.order.refused).c_str());
  }
  if (queue.order.all.jobs == 0) return;
  std::printf("  estimate of the mean wait of %s, the scheduler's own order -> advised: %s\n",
              Counted(queue.order.all.jobs, "job").c_str(), WaitText(queue.order.all).c_str());
  for (const auto& [user, mean] : queue.order.by_user) {
    std::printf("    %s: %s%s\n", Printable(user).c_str(), WaitText(mean).c_str(),
                mean.advised > mean.own ? " (longer)" : "");
  }
}

Json JsonOf(const MeanWait& mean) {
  return {{"jobs", mean.jobs}, {"own_wait", mean.own}, {"advised_wait", mean.advised}};
}

void PrintJson(const Advice& advice, const AdviceTarget& target, int written) {
  Json json{{"time", advice.now}, {"queues", Json::array()}, {"changes", Json::array()}};
  for (const QueueAdvice& queue : advice.queues) {
    Json users = Json::object();
    for (const auto& [user, mean] : queue.order.by_user) users[user] = JsonOf(mean);
    Json of_queue{{"queue", queue.queue},
                  {"waiting", queue.waiting},
                  {"left_alone", queue.left_alone},
                  {"estimate", JsonOf(queue.order.all)},
                  {"users", users}};
    if (!queue.order.refused.empty()) of_queue["refused"] = queue.order.refused;
    json["queues"].push_back(std::move(of_queue));
  }
  for (const AdvisedChange& one : advice.changes) {
    json["changes"].push_back({{"job", one.change.job},
                               {"user", one.change.user},
                               {"queue", one.queue},
                               {"waits", one.waits},
                               {"own_place", one.own},
                               {"advised_place", one.advised},
                               {"nice_now", one.change.before},
                               {"nice_then", one.change.after},
                               {"command", target.CommandFor(one.change.job, one.change.after)}});
  }
  json["written"] = written;
  std::printf("%s\n", JsonText(json).c_str());
}

void Print(const Advice& advice, const Adviser& adviser, const AdviseOptions& o, int written,
           const GlobalOptions& globals) {
  if (globals.json) {
    PrintJson(advice, adviser.target(), written);
    return;
  }
  bool estimated = false;
  for (const QueueAdvice& queue : advice.queues) {
    PrintQueue(queue);
    estimated = estimated || queue.order.all.jobs > 0;
  }
  if (estimated) {
    std::printf(
        "an estimate by simulation: nothing further arrives, each job takes the median of what its "
        "limit and its user's past say, GPUs alone are scarce\n");
  }
  const std::size_t changes = advice.changes.size();
  if (changes > 0 && !o.write) {
    std::printf("\n");
    PrintChanges(advice, adviser.target());
  }
  if (changes == 0) {
    std::printf("no Nice to change\n");
  } else if (o.write) {
    std::printf("wrote %d of %s\n", written,
                Counted(static_cast<std::int64_t>(changes), "Nice value").c_str());
  } else {
    std::printf("\ndry run: nothing was written (--write writes)\n");
  }
}

void PrintRefused(const std::vector<std::string>& refused) {
  for (const std::string& why : refused) {
    std::fprintf(stderr, "note: %s\n", Printable(why).c_str());
  }
}

int Undo(Adviser& adviser, const GlobalOptions& globals) {
  const Undone undone = adviser.Undo();
  PrintRefused(undone.refused);
  const auto exit = undone.refused.empty() ? ExitCode::kOk : ExitCode::kRunFailed;
  if (globals.json) {
    const Json json{{"restored", undone.restored},
                    {"as_before", undone.as_before},
                    {"over", undone.over},
                    {"changed_by_others", undone.others_nice},
                    {"refused", undone.refused}};
    std::printf("%s\n", JsonText(json).c_str());
    return static_cast<int>(exit);
  }
  std::printf("restored %s; %d as before, %d of jobs that are over\n",
              Counted(undone.restored, "Nice value").c_str(), undone.as_before, undone.over);
  if (!undone.others_nice.empty()) {
    std::printf("left alone, because somebody else changed their Nice: %s\n",
                Enumerate(undone.others_nice).c_str());
  }
  return static_cast<int>(exit);
}

void SleepUntilNext(Seconds interval) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(interval);
  while (!Interrupted() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

Adviser::Records RecordsOf(const AdviseOptions& o) {
  if (o.undo) return Adviser::Records::kWrites;
  return o.write || !o.once ? Adviser::Records::kWritesAndWorth : Adviser::Records::kNone;
}

int Advise(const AdviseOptions& o, const GlobalOptions& globals) {
  const std::filesystem::path state = StateFolder(o.state);
  if (o.worth) {
    const WorthReport report = Adviser::WorthOfWeek(state, WallSeconds());
    std::fputs(globals.json ? (JsonText(ToJson(report)) + "\n").c_str() : WorthText(report).c_str(),
               stdout);
    return 0;
  }
  if (o.undo && !Adviser::HasWritten(state)) {
    throw RunError("--undo needs the folder from which advice was written (--state), '{}' has none",
                   state.string());
  }
  Adviser adviser(MakeTarget(o), o.advice, state, RecordsOf(o));
  if (o.undo) return Undo(adviser, globals);
  InstallInterruptHandler();
  for (bool first = true; first || !o.once; first = false) {
    if (!first) SleepUntilNext(o.interval);
    if (Interrupted()) break;
    try {
      const Advice advice = adviser.Advise();
      const Written written = o.write ? adviser.Write(advice) : Written{};
      PrintRefused(written.refused);
      if (first && !globals.quiet && !adviser.no_past().empty()) {
        std::fprintf(stderr, "note: lengths are judged by time limits alone: %s\n",
                     Printable(adviser.no_past()).c_str());
      }
      if (first || !advice.changes.empty()) Print(advice, adviser, o, written.values, globals);
    } catch (const Error& error) {
      if (first) throw;
      std::fprintf(stderr, "note: %s; trying again in %s\n", error.what(),
                   HumanDuration(o.interval).c_str());
    }
    std::fflush(stdout);
  }
  AcknowledgeInterrupt();
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "advise", "order the waiting jobs of a Slurm or Kueue that allot does not replace",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<AdviseOptions>();
          line.Option("--runtime", o->runtime, "the cluster, as for 'allot serve'").ShowDefault();
          line.Option("-p,--policy", o->advice.policy, "orders the jobs; see 'allot list'")
              .ShowDefault();
          line.Option("--partition", o->partitions,
                      "advise this partition or ClusterQueue only [all with GPUs]")
              .Repeatable();
          line.Flag("--once", o->once, "one round, instead of one every --interval");
          line.Option("--interval", o->interval, "time between rounds")
              .Duration()
              .Positive()
              .DefaultText("1m");
          line.Flag("--write", o->write, "write the Nice of jobs; without it nothing is changed");
          line.Option("--most-nice", o->advice.most_nice, "largest Nice that is written")
              .Range(1, 1'000'000)
              .ShowDefault();
          line.Option("--writes-per-minute", o->advice.writes_per_minute,
                      "Nice values written in a minute, at most")
              .Range(1, 100'000)
              .ShowDefault();
          line.Flag("--worth", o->worth, "what advice was worth in the last week, and end");
          line.Flag("--undo", o->undo, "restore each Nice that advice has changed, and end");
          line.Option("--state", o->state,
                      "folder of the records of what was written and what it is worth")
              .DefaultText("ALLOT_STATE, ~/.local/state/allot");
          line.Exclude("undo", {"write", "once", "interval", "policy"});
          line.Exclude("worth", {"write", "once", "interval", "policy", "undo"});
          return [o, &globals] { return Advise(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
