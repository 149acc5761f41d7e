// allot replay: plays the decisions of an episode log back and checks that every job ends when it
// did; of a live run, that every decision was legal and that what it saw has the logged features.

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "core/error.h"
#include "core/json_text.h"
#include "episode_log/episode_log.h"
#include "features/encoder.h"
#include "record/minari_reader.h"
#include "sim/run.h"

namespace allot {
namespace {

// What a replay found, as 'allot replay --json' shows it.
struct Replayed {
  std::size_t jobs = 0;
  std::size_t decisions = 0;
  std::int64_t different = 0;
  std::string first;  // of what differs
};

Replayed Simulated(const std::string& path, const LoggedEpisode& episode) {
  RecordedPolicy policy(episode.decisions);
  RunOutcome outcome;
  PlayBack(path, [&] { outcome = RunPolicy(*episode.scenario, policy); });
  Replayed replayed;
  replayed.jobs = outcome.records.size();
  replayed.decisions = episode.decisions.times.size();
  for (const JobRecord& record : outcome.records) {
    const auto job = static_cast<std::size_t>(record.job);
    if (record.finish == episode.finish[job]) continue;
    if (replayed.different++ == 0) {
      replayed.first = fmt::format("job '{}' ends at {} s, in the log at {} s",
                                   episode.scenario->workload().jobs[job].id, record.finish,
                                   episode.finish[job]);
    }
  }
  return replayed;
}

// Encodes what was seen again and compares it with what is logged, bit for bit.
class FeatureCheck : public DecisionListener {
 public:
  FeatureCheck(const MinariReader& log, std::int64_t episode)
      : jobs_(log.ReadAs<float>(episode, "observations/jobs", &shape_)),
        context_(log.ReadAs<float>(episode, "observations/context")) {
    if (shape_.size() != 3 || shape_[2] != kJobFeatures ||
        context_.size() != shape_[0] * kContextFeatures) {
      throw DataError("{}: episode {}: its features are of another version than {}",
                      log.path().string(), episode, kFeatureVersion);
    }
    encoder_.OnEpisodeStart();
  }

  void OnDecision(const Observation& o, const Allocation&) override {
    const auto d = static_cast<std::size_t>(o.decision);
    if (d >= shape_[0]) throw DataError("decision {}: the log has features of {}", d, shape_[0]);
    encoder_.Encode(o, &features_);
    const std::size_t rows = std::min(o.job.size(), shape_[1]);
    const auto at = [](std::size_t index) { return static_cast<std::ptrdiff_t>(index); };
    const bool same =
        std::equal(features_.jobs.begin(), features_.jobs.begin() + at(rows * kJobFeatures),
                   jobs_.begin() + at(d * shape_[1] * kJobFeatures)) &&
        std::equal(features_.context.begin(), features_.context.end(),
                   context_.begin() + at(d * kContextFeatures));
    if (!same && different_++ == 0) first_ = fmt::format("decision {} at {} s", d, o.now);
  }

  std::int64_t different() const { return different_; }
  const std::string& first() const { return first_; }

 private:
  ArrayShape shape_;
  std::vector<float> jobs_;
  std::vector<float> context_;
  FeatureEncoder encoder_;
  FeatureBatch features_;
  std::int64_t different_ = 0;
  std::string first_;
};

Replayed Seen(const std::string& path, std::int64_t number, const LoggedEpisode& episode) {
  FeatureCheck check(MinariReader(path), number);
  PlayBack(path, [&] { PlaybackOf(episode)(&check); });
  return {episode.finish.size(), episode.decisions.times.size(), check.different(), check.first()};
}

int Replay(const std::string& path, const GlobalOptions& globals) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  bool equal = true;
  for (const LoggedEpisode& episode : ReadEpisodeLog(path)) {
    const auto number = static_cast<std::int64_t>(results.size());
    const bool live = episode.seen != nullptr;
    const Replayed replayed = live ? Seen(path, number, episode) : Simulated(path, episode);
    equal = equal && replayed.different == 0;
    const std::string& name = episode.scenario->workload().name;
    results.push_back({{"workload", name},
                       {"policy", episode.policy},
                       {"jobs", replayed.jobs},
                       {"decisions", replayed.decisions},
                       {"live", live},
                       {"different", replayed.different}});
    if (!globals.json) {
      std::printf("%s on %s: %zu jobs, %zu decisions, %lld different%s%s\n", episode.policy.c_str(),
                  name.c_str(), replayed.jobs, replayed.decisions,
                  static_cast<long long>(replayed.different),
                  replayed.first.empty() ? "" : "; first: ", replayed.first.c_str());
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
