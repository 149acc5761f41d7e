#include <cmath>
#include <cstdio>
#include <memory>

#include "agents/learned/agent.h"
#include "agents/training/sequence_imitation.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/inputs.h"
#include "core/named_files.h"
#include "core/progress.h"
#include "core/rng.h"
#include "envs/setting.h"
#include "episode_log/verify.h"
#include "experiment/model_card.h"
#include "experiment/sources.h"
#include "experiment/training/pretrain.h"
#include "experiment/world.h"

namespace allot {
namespace {

// What a warm-up made, to be written as a checkpoint with its card.
struct Pretrained {
  NetWeights weights;
  std::string teacher;
  std::string curve;  // CSV
  double agreement_before = 0;
  double agreement = 0;
  std::string measured_on;  // for the card and the last line
};

// ---- margins: networks that give jobs numbers learn by how much the logged decisions prefer what
// they gave ----

constexpr double kFew = 0.75;  // agreement
constexpr const char* kDecisions = "held-out contended decisions";

// Fresh weights that decide as a well-known rule does or, where the network has the parameters of
// the teacher, as the teacher.
std::vector<NetWeights> Starts(const PretrainOptions& o, const std::string& network,
                               const std::string& teacher) {
  const NetworkInfo& info = NetworkOf(MakeNetwork(network, o.imitation.seed));
  std::vector<std::string> specs;
  for (const std::string& rule : info.rules) specs.push_back(fmt::format("{}:{}", info.id, rule));
  if (ParseNamedParams(teacher).name == info.id) specs.push_back(teacher);
  std::vector<NetWeights> starts;
  starts.reserve(specs.size());
  for (const std::string& spec : specs) {
    std::string start = network;
    for (const auto& [key, value] : ParseNamedParams(spec).given) {
      if (std::ranges::find(info.params, key, &ParamSpec::name) == info.params.end()) continue;
      start = SpecWith(start, key, value);
    }
    starts.push_back(MakeNetwork(start, o.imitation.seed));
  }
  return starts;
}

Pretrained PretrainMargins(const PretrainOptions& o, const std::string& network,
                           const GlobalOptions& globals) {
  const NetWeights fresh = MakeNetwork(network, o.imitation.seed);
  const Part learned{.held_out = false, .hold_out_share = o.hold_out};
  const Part unseen{.held_out = true, .hold_out_share = o.hold_out};
  ImitationData data;
  ImitationData held_out;
  std::vector<LoggedEpisode> episodes;
  for (const std::string& log : o.logs) {
    std::int64_t number = 0;
    for (LoggedEpisode& episode : ReadEpisodeLog(log)) {
      RequireVerified(log, number++, episode);
      PlayBack(log, [&] {
        AppendImitationData(PlaybackOf(episode), fresh, learned, o.stride, &data);
        AppendImitationData(PlaybackOf(episode), fresh, unseen, o.stride, &held_out);
      });
      episodes.push_back(std::move(episode));
    }
  }
  if (episodes.empty()) throw DataError("the logs hold no episode");
  const std::string teacher = episodes.front().policy;
  const auto agreement = [&](const NetWeights& weights, const Part& part) {
    AgreedGpus sum;
    for (const LoggedEpisode& episode : episodes) {
      const AgreedGpus of_episode = Agreement(PlaybackOf(episode), part, weights);
      sum.same += of_episode.same;
      sum.logged += of_episode.logged;
    }
    return sum.share();
  };

  NetWeights start = fresh;
  double start_agreement = agreement(fresh, learned);
  for (NetWeights& other : Starts(o, network, teacher)) {
    const double of_other = agreement(other, learned);
    if (!(of_other > start_agreement)) continue;
    start = std::move(other);
    start_agreement = of_other;
  }
  ImitationOptions imitation = o.imitation;
  if (imitation.epochs == 0) imitation.epochs = ImitationOptions{}.epochs;
  if (imitation.learning_rate == 0) imitation.learning_rate = ImitationOptions{}.learning_rate;
  const double before = agreement(fresh, unseen);
  if (!globals.quiet) {
    std::fprintf(stderr, "teacher %s: %s, %s to learn from, %lld held out\n", teacher.c_str(),
                 Counted(std::ssize(episodes), "episode").c_str(),
                 Counted(data.decisions(), "contended decision").c_str(),
                 static_cast<long long>(held_out.decisions()));
  }
  std::string curve = "epoch,loss,held_out_loss,agreement\n";
  double after = agreement(start, unseen);
  if (start_agreement == 1) {  // nothing is left to learn
    return {start, teacher, curve, before, after, kDecisions};
  }
  Progress progress("pretraining", imitation.epochs, globals.quiet);
  NetWeights weights = Imitate(
      data, held_out, imitation, IndexNetWeights(start), [&](const ImitationReport& report) {
        after = agreement(report.weights, unseen);
        curve += held_out.decisions() > 0 ? fmt::format("{},{},{},{}\n", report.epoch, report.loss,
                                                        report.held_out_loss, after)
                                          : fmt::format("{},{},,\n", report.epoch, report.loss);
        progress.Update(report.epoch,
                        held_out.decisions() > 0
                            ? fmt::format("loss {:.4f}, held out {:.4f}, agreement {:.1f} %",
                                          report.loss, report.held_out_loss, 100 * after)
                            : fmt::format("loss {:.4f}, nothing held out", report.loss));
      });

  if (agreement(weights, learned) < start_agreement) {
    weights = start;
    after = agreement(start, unseen);
  }
  if (!globals.quiet && fresh.kind == kIndexKind && after < kFew) {
    std::fprintf(stderr,
                 "note: sizes by the hull say little of this teacher; one that goes by service or "
                 "submission, or gives what is asked for, is learned by --network order "
                 "(order:sizing=hull for elastic ones)\n");
  }
  return {weights, teacher, curve, before, after, kDecisions};
}

// ---- increments ----

struct Lessons {
  std::vector<Lesson> all;
  std::string teacher;
  World world;  // of the setting; teachers are made there
};

void AddLogged(const PretrainOptions& o, Lessons* lessons) {
  for (const std::string& log : o.logs) {
    std::int64_t number = 0;
    for (LoggedEpisode& episode : ReadEpisodeLog(log)) {
      RequireVerified(log, number++, episode);
      if (episode.seen != nullptr) {
        throw UsageError(
            "a sequence network learns from logs that can be simulated again, '{}' is of a live "
            "run; pretrain an index network from it",
            log);
      }
      const auto kept = std::make_shared<const LoggedEpisode>(std::move(episode));
      if (lessons->all.empty()) lessons->teacher = kept->policy;
      const Lesson lesson{
          .scenario = kept->scenario,
          .teacher = [kept] { return std::make_unique<RecordedPolicy>(kept->decisions); },
          .must_follow = true};
      lessons->all.push_back(lesson);
    }
  }
}

void AddTaught(const PretrainOptions& o, Lessons* lessons) {
  lessons->world = World(WorldSpec{.setting = o.setting});
  lessons->teacher = o.teacher;
  const std::vector<Setting>& settings = lessons->world.settings();
  for (int k = 0; k < o.episodes; ++k) {
    const auto number = static_cast<std::uint64_t>(k);
    const Setting& setting = settings[number % settings.size()];
    World* world = &lessons->world;
    lessons->all.push_back(
        {.scenario = setting.episodes(Rng(o.imitation.seed, "teaching-episode", number).NextU64()),
         .teacher = [world, spec = o.teacher] { return world->MakePolicy(spec); }});
  }
}

Pretrained PretrainIncrements(const PretrainOptions& o, const NetWeights& start,
                              const GlobalOptions& globals) {
  Lessons lessons;
  AddLogged(o, &lessons);
  if (!o.setting.empty()) AddTaught(o, &lessons);
  if (lessons.all.empty()) throw DataError("the logs hold no episode");
  // Whole episodes are held out; of a single one agreement is that with what was learned.
  const auto total = lessons.all.size();
  const auto held_out = std::min(
      total - 1, static_cast<std::size_t>(std::ceil(o.hold_out * static_cast<double>(total))));
  const std::vector<Lesson> learned(lessons.all.begin(),
                                    lessons.all.end() - static_cast<std::ptrdiff_t>(held_out));
  const std::vector<Lesson> unseen(held_out > 0
                                       ? lessons.all.end() - static_cast<std::ptrdiff_t>(held_out)
                                       : lessons.all.begin(),
                                   lessons.all.end());

  SequenceImitationOptions imitation;
  imitation.seed = o.imitation.seed;
  imitation.passes = o.passes;
  imitation.smoothing = o.smoothing;
  imitation.entropy = o.entropy;
  imitation.threads = globals.threads;
  if (o.imitation.epochs > 0) imitation.epochs = o.imitation.epochs;
  if (o.imitation.learning_rate > 0) {
    imitation.learning_rate = o.imitation.learning_rate;
    imitation.final_learning_rate = o.imitation.learning_rate / 10;
  }
  Pretrained result;
  result.teacher = lessons.teacher;
  result.measured_on = held_out > 0 ? "held-out episodes" : "the episode learned from";
  result.agreement_before = IncrementAgreement(unseen, {start, {}}, globals.threads);
  result.curve = "epoch,loss,held_out_loss,agreement\n";
  Progress progress("pretraining", imitation.epochs * imitation.passes, globals.quiet);
  result.weights =
      ImitateIncrements(learned, imitation, start, [&](const SequenceImitationReport& report) {
        result.agreement = IncrementAgreement(unseen, {report.weights, {}}, globals.threads);
        result.curve += fmt::format("{},{},,{}\n", report.epoch, report.loss, result.agreement);
        progress.Update(report.epoch, fmt::format("loss {:.4f}, agreement {:.1f} %", report.loss,
                                                  100 * result.agreement));
      });
  return result;
}

}  // namespace

PretrainedCheckpoint Pretrain(const PretrainOptions& o, const GlobalOptions& globals) {
  const std::string spec =
      o.network +
      (o.hidden > 0
           ? fmt::format("{}hidden={}", o.network.find(':') == o.network.npos ? ":" : ",", o.hidden)
           : "");
  const NetWeights start = MakeNetwork(spec, o.imitation.seed);
  const NetworkInfo& network = NetworkOf(start);
  const bool sequence = network.actions == "sequence";
  if (o.logs.empty() && (o.setting.empty() || !sequence)) {
    throw UsageError("pretrain needs --log{}", sequence ? ", or --setting and --teacher" : "");
  }
  RequireOneFeatureVersion(o.logs);
  const Pretrained made =
      sequence ? PretrainIncrements(o, start, globals) : PretrainMargins(o, spec, globals);

  Checkpoint checkpoint;
  checkpoint.feature_version = network.feature_version;
  checkpoint.weights = made.weights;
  checkpoint.state = {{"stage", "pretrained"},
                      {"teacher", made.teacher},
                      {"agreement_before", made.agreement_before},
                      {"agreement", made.agreement}};
  checkpoint.config = {{"logs", o.logs},
                       {"network", spec},
                       {"epochs", o.imitation.epochs},
                       {"hold_out", o.hold_out},
                       {"stride", o.stride},
                       {"seed", o.imitation.seed},
                       {"learning_rate", o.imitation.learning_rate}};
  Inputs inputs;
  AddInputs(o.logs, &inputs);
  if (!o.setting.empty()) AddInputs(FilesOfSpec<SettingInfo>(o.setting), &inputs);
  checkpoint.config["inputs"] = inputs;
  checkpoint.config["sources"] = SourcesOfLogs(o.logs);
  if (!o.setting.empty()) {
    AddSources(SourcesOfCheckpoint({{"world", {{"setting", o.setting}}}}),
               &checkpoint.config["sources"]);
  }
  if (sequence) {
    checkpoint.config.update({{"setting", o.setting},
                              {"teacher", o.teacher},
                              {"episodes", o.episodes},
                              {"passes", o.passes},
                              {"smoothing", o.smoothing},
                              {"entropy", o.entropy}});
  }
  const std::string measured =
      std::isnan(made.agreement)
          ? fmt::format("agreement with {} was not measured: no contended decision was held out",
                        made.teacher)
          : fmt::format(
                "agreement with {} on {}: {:.1f} % of the {} go to the same jobs (untrained: "
                "{:.1f} %)",
                made.teacher, made.measured_on, 100 * made.agreement,
                sequence ? "units by cost" : "GPUs", 100 * made.agreement_before);
  checkpoint.card = ModelCard(
      fmt::format("Network '{}', supervised on decisions of {}", network.id, made.teacher),
      o.command, measured);
  return {checkpoint, made.curve, measured};
}

}  // namespace allot
