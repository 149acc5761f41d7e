// allot replay: plays the decisions of an episode log back and checks that every job ends when it
// did.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/episode_log.h"
#include "core/error.h"
#include "core/json_text.h"
#include "sim/run.h"

namespace allot {
namespace {

int Replay(const std::string& path, const GlobalOptions& globals) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  bool equal = true;
  for (const LoggedEpisode& episode : ReadEpisodeLog(path)) {
    RecordedPolicy policy(episode.decisions);
    RunOutcome outcome;
    PlayBack(path, [&] { outcome = RunPolicy(*episode.scenario, policy); });
    std::int64_t different = 0;
    std::string first;
    for (const JobRecord& record : outcome.records) {
      const auto job = static_cast<std::size_t>(record.job);
      if (record.finish == episode.finish[job]) continue;
      if (different++ == 0) {
        first = fmt::format("job '{}' ends at {} s, in the log at {} s",
                            episode.scenario->workload().jobs[job].id, record.finish,
                            episode.finish[job]);
      }
    }
    equal = equal && different == 0;
    const std::string& name = episode.scenario->workload().name;
    results.push_back({{"workload", name},
                       {"policy", episode.policy},
                       {"jobs", outcome.records.size()},
                       {"different", different}});
    if (!globals.json) {
      std::printf("%s on %s: %zu jobs, %lld different%s%s\n", episode.policy.c_str(), name.c_str(),
                  outcome.records.size(), static_cast<long long>(different),
                  first.empty() ? "" : "; first: ", first.c_str());
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
