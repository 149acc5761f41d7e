// allot explain: why a trained policy gave each job its GPUs, at one decision.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agents/learned/agent.h"
#include "cli/command.h"
#include "cluster/snapshot.h"
#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
#include "core/json_text.h"
#include "core/nested_spec.h"
#include "core/strings.h"
#include "episode_log/episode_log.h"
#include "experiment/training/explanation_text.h"
#include "sim/ruled_simulation.h"
#include "sim/run.h"

namespace allot {
namespace {

struct ExplainOptions {
  std::string checkpoint;
  std::string observation;
  std::int64_t episode = 0;
  std::int64_t decision = 0;
  std::string job;
  std::string placement = "packed";
  std::string world;
  std::string index;
  std::string save;
};

constexpr const char* kHowToRead =
    "How to read it. The network gives each job three numbers: weight u, fairness beta and\n"
    "stickiness kappa. A job gets GPUs step by step along the concave hull of its speeds. The key\n"
    "of a step is\n"
    "  u + ln(speed gained per GPU) - beta ln(speed at its middle) + kappa (within what the job\n"
    "  has now) or - kappa (beyond it)\n"
    "and the step with the largest key of all jobs is taken next, while there is room\n"
    "(docs/learning-method.md). A job has its GPUs because the key of its last step was among\n"
    "the largest. It has no more because its next step had a smaller key, did not fit, or would\n"
    "not make the job faster.\n"
    "A network that adds to the fixed index of a world (offsets): the numbers are the sums, "
    "beside\n"
    "them is what was added, and what the index alone would have given.\n"
    "\n"
    "An observation is one decision of an episode log (--observation FOLDER --episode N\n"
    "--decision N, from 0; made with --log) or a JSON snapshot (docs/formats/snapshot.md; --save\n"
    "writes one to edit and ask 'what if').";

// The time shares that the log's policy assigned.
struct LoggedShare {
  std::string job;
  std::string configuration;
  double share = 0;  // fraction of time
};

std::vector<LoggedShare> SharesIn(const Allocation& logged, const Observation& o,
                                  const std::vector<std::string>& names) {
  std::vector<LoggedShare> shares;
  for (const Allocation::Entry& entry : logged.entries()) {
    const auto row =
        static_cast<std::int32_t>(std::find(o.job.begin(), o.job.end(), entry.job) - o.job.begin());
    if (!(entry.share > 0) || row == o.rows()) continue;
    shares.push_back({names[At(row)], ConfigurationText(o, row, entry.configuration),
                      static_cast<double>(entry.share)});
  }
  return shares;
}

void Show(const ExplainOptions& o, const GlobalOptions& globals, const Observation& observation,
          const std::vector<std::string>& names, Explainer& explainer,
          const std::vector<LoggedShare>& shares = {}) {
  if (!o.save.empty()) {
    WriteTextFile(o.save, JsonText(SnapshotJson(observation, names)) + "\n");
  }
  const Explanation explanation = explainer.Explain(observation);
  std::int32_t only = -1;
  if (!o.job.empty()) {
    const auto found = std::find(names.begin(), names.end(), o.job);
    if (found == names.end()) {
      throw UsageError("no job '{}' at this decision{}", o.job, DidYouMean(o.job, names));
    }
    only = static_cast<std::int32_t>(found - names.begin());
  }
  if (globals.json) {
    nlohmann::ordered_json json = ExplanationJson(observation, explanation, names, only);
    for (const LoggedShare& share : shares) {
      json["logged_shares"].push_back(
          {{"job", share.job}, {"configuration", share.configuration}, {"share", share.share}});
    }
    std::printf("%s\n", JsonText(json).c_str());
  } else if (only >= 0) {
    std::printf("%s", ExplanationText(observation, only, explanation.jobs[At(only)], o.job,
                                      explanation.feature_names)
                          .c_str());
  } else {
    std::printf("%s", ExplanationText(observation, explanation, names).c_str());
  }
  for (const LoggedShare& share : shares) {
    if (globals.json) break;
    std::printf("the log gave job %s %s for %.1f %% of the time\n", share.job.c_str(),
                share.configuration.c_str(), 100 * share.share);
  }
}

// Listens to a replayed episode and explains the requested decision.
class AtDecision : public DecisionListener {
 public:
  AtDecision(std::int64_t decision, Explainer* explainer,
             std::function<void(const Observation&)> show)
      : decision_(decision), explainer_(explainer), show_(std::move(show)) {}
  void OnDecision(const Observation& observation, const Allocation&) override {
    if (observation.decision == decision_) {
      show_(observation);
    } else {
      explainer_->Observe(observation);
    }
  }

 private:
  std::int64_t decision_;
  Explainer* explainer_;
  std::function<void(const Observation&)> show_;
};

void ExplainLogged(const ExplainOptions& o, const GlobalOptions& globals, Explainer& explainer) {
  const std::vector<LoggedEpisode> episodes = ReadEpisodeLog(o.observation);
  if (static_cast<std::size_t>(o.episode) >= episodes.size()) {
    throw UsageError("--episode must be one of {} in '{}', counted from 0, got {}", episodes.size(),
                     o.observation, o.episode);
  }
  const LoggedEpisode& episode = episodes[static_cast<std::size_t>(o.episode)];
  const auto decisions = static_cast<std::int64_t>(episode.decisions.times.size());
  if (o.decision >= decisions) {
    throw UsageError("--decision must be one of {} in episode {}, counted from 0, got {}",
                     decisions, o.episode, o.decision);
  }
  AtDecision listener(o.decision, &explainer, [&](const Observation& observation) {
    std::vector<std::string> names;
    for (const JobIndex job : observation.job) {
      names.push_back(episode.scenario->workload().jobs[At(job)].id);
    }
    const Allocation& logged = episode.decisions.allocations[static_cast<std::size_t>(o.decision)];
    Show(o, globals, observation, names, explainer, SharesIn(logged, observation, names));
  });
  PlayBack(o.observation, [&] {
    if (episode.seen != nullptr) return PlaybackOf(episode)(&listener);
    RecordedPolicy recorded(episode.decisions);
    DecisionListener* const listeners[] = {&listener};
    RuledSimulation simulation(*episode.scenario);
    Drive(simulation.port(), recorded,
          {.seed = episode.seed, .cluster = &episode.scenario->cluster()}, listeners,
          {.max_decisions = o.decision + 1, .time_decisions = false});
  });
}

int Explain(const ExplainOptions& o, const GlobalOptions& globals) {
  const Agent agent = LoadAgent(o.checkpoint);
  const std::unique_ptr<Explainer> made = MakeExplainer(
      agent, {.placement = o.placement, .world = o.world, .index = NestedSpec(o.index)});
  if (made == nullptr) {
    throw UsageError("decisions of networks '{}' are not explained", agent.weights.kind);
  }
  Explainer& explainer = *made;
  explainer.OnEpisodeStart();
  const std::filesystem::path path(o.observation);
  if (path.extension() == ".json") {
    const auto snapshot = ReadSnapshot(o.observation);
    Show(o, globals, snapshot->observation, snapshot->names, explainer);
  } else {
    ExplainLogged(o, globals, explainer);
  }
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "explain", "why a trained policy gave each job its GPUs, at one decision",
                   [](CommandLine& line, const GlobalOptions& globals) {
                     auto o = std::make_shared<ExplainOptions>();
                     line.Footer(kHowToRead);
                     line.Option("--checkpoint", o->checkpoint, "checkpoint folder").Required();
                     line.Option("--observation", o->observation,
                                 "folder of an episode log, or a snapshot (.json)")
                         .Required();
                     line.Option("--episode", o->episode, "episode of the log, from 0")
                         .NonNegative()
                         .ShowDefault();
                     line.Option("--decision", o->decision, "decision of the episode, from 0")
                         .NonNegative()
                         .ShowDefault();
                     line.Option("--job", o->job, "only this job, with features and steps");
                     line.Option("--placement", o->placement, "stage: which GPUs on which nodes")
                         .ShowDefault();
                     line.Option("--world", o->world,
                                 "of a network that adds to the fixed index of each world: which "
                                 "one");
                     line.Option("--index", o->index,
                                 "of such a network: index/KEY=VALUE/... to add to, in its place");
                     line.Option("--save", o->save,
                                 "write the observation as a JSON snapshot to this file");
                     return [o, &globals] { return Explain(*o, globals); };
                   }}));

}  // namespace
}  // namespace allot
