#include "experiment/training/log_world.h"

#include <algorithm>
#include <utility>

#include "agents/training/logged_workload.h"
#include "core/counted.h"
#include "core/error.h"
#include "envs/setting.h"
#include "episode_log/episode_log.h"

namespace allot {
namespace {

constexpr double kForTraining = 0.75;

// Windows of a part of the workload, which they keep alive.
EpisodeSource Windows(const std::shared_ptr<const Workload>& workload, const LoggedEpisode& episode,
                      Seconds from, Seconds to, Seconds span) {
  const Scenario& logged = *episode.scenario;
  const std::shared_ptr<const Catalogue> catalogue = episode.catalogue;
  WindowOptions window;
  window.catalogue = catalogue.get();
  window.from = from;
  window.to = to;
  window.span = std::min(span, to - from);
  window.loads = {0};
  window.elastic = false;  // the log says what jobs may hold
  window.sim = logged.options();
  window.sim.node_events.clear();  // at times of the whole log
  if (window.sim.rules != nullptr) {
    window.sim.rules =
        std::make_shared<const OperatorRules>(window.sim.rules->WithoutMaintenance());
  }
  const EpisodeSource source = WindowEpisodes(*workload, logged.cluster(), window);
  return [workload, catalogue, source](std::uint64_t seed) { return source(seed); };
}

}  // namespace

LogWorld ReadLogWorld(const std::vector<std::string>& logs, Seconds span) {
  LogWorld world;
  std::vector<EpisodeSource> training;
  std::vector<EpisodeSource> validation;
  std::size_t jobs = 0;
  std::size_t unfinished = 0;
  Seconds interval = kNever;
  for (const std::string& log : logs) {
    const std::vector<LoggedEpisode> episodes = ReadEpisodeLog(log);
    for (std::size_t e = 0; e < episodes.size(); ++e) {
      const LoggedEpisode& episode = episodes[e];
      const std::string where = fmt::format("{}: episode {}", log, e);
      MeasuredWorkload measured =
          episode.seen != nullptr
              ? MeasuredJobs(*episode.scenario, episode.finish, where)
              : MeasureWorkload(*episode.scenario, episode.decisions, episode.finish, where);
      const auto workload = std::make_shared<const Workload>(std::move(measured.workload));
      const Seconds first = workload->jobs.front().submit;
      const Seconds last = workload->jobs.back().submit;
      constexpr double kFewIntervals = 8;
      if (last - first < kFewIntervals * episode.scenario->options().interval) {
        throw DataError(
            "{}: its jobs must come over at least {} intervals of {} s to be trained on and "
            "validated with, they come over {} s",
            where, kFewIntervals, episode.scenario->options().interval, last - first);
      }
      const Seconds parted = first + kForTraining * (last - first);
      training.push_back(Windows(workload, episode, first, parted, span));
      validation.push_back(Windows(workload, episode, parted, last + 1, span));
      world.lengths.Learn(*workload, parted);
      jobs += workload->jobs.size();
      unfinished += measured.unfinished;
      interval = std::min(interval, episode.scenario->options().interval);
    }
  }
  if (training.empty()) throw DataError("the logs hold no episode");
  world.note =
      fmt::format("{} with {} that ended, {} that had not are left out\n",
                  Counted(std::ssize(training), "episode"), Counted(jobs, "job"), unfinished);
  world.training = MixedEpisodes(std::move(training));
  world.validation = MixedEpisodes(std::move(validation));
  world.max_decisions = static_cast<std::int64_t>(2 * span / interval);
  return world;
}

}  // namespace allot
