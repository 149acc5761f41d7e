// allot replay: replays the decisions of an episode log, and checks that every job ends when it did
// and that every observation, action and reward equals the logged one. A live run cannot be
// simulated again; its decisions are replayed on the logged observations.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/json_text.h"
#include "episode_log/verify.h"

namespace allot {
namespace {

int Replay(const std::string& path, const GlobalOptions& globals) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  bool equal = true;
  for (const LoggedEpisode& episode : ReadEpisodeLog(path)) {
    const auto number = static_cast<std::int64_t>(results.size());
    const bool live = episode.seen != nullptr;
    const Verified verified = VerifyEpisode(path, number, episode);
    equal = equal && verified.different == 0;
    const std::size_t jobs = episode.finish.size();
    const std::size_t decisions = episode.decisions.times.size();
    const std::string& name = episode.scenario->workload().name;
    results.push_back({{"workload", name},
                       {"policy", episode.policy},
                       {"jobs", jobs},
                       {"decisions", decisions},
                       {"live", live},
                       {"different", verified.different}});
    if (!verified.first.empty()) results.back()["first"] = verified.first;
    if (!verified.unchecked.empty()) results.back()["unchecked"] = verified.unchecked;
    if (!globals.json) {
      std::printf("%s on %s: %s, %s, %lld different%s%s%s%s\n", episode.policy.c_str(),
                  name.c_str(), Counted(static_cast<std::int64_t>(jobs), "job").c_str(),
                  Counted(static_cast<std::int64_t>(decisions), "decision").c_str(),
                  static_cast<long long>(verified.different),
                  verified.first.empty() ? "" : "; first: ", verified.first.c_str(),
                  verified.unchecked.empty() ? "" : "; ", verified.unchecked.c_str());
    }
  }
  if (globals.json) std::printf("%s\n", JsonText(results).c_str());
  if (!equal) throw CheckError("the replay of '{}' differs from the logged run", path);
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{"replay",
                            "play an episode log back and check that it gives the same JCTs",
                            [](CommandLine& line, const GlobalOptions& globals) {
                              auto path = std::make_shared<std::string>();
                              line.Option("log", *path,
                                          "folder of the data set, e.g. runs/logs/cluster/fifo-v0")
                                  .Required();
                              return [path, &globals] { return Replay(*path, globals); };
                            }}));

}  // namespace
}  // namespace allot
