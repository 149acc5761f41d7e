// allot pretrain: a network learns from the decisions of any scheduler; here index networks and the
// command.

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "agents/learned/agent.h"
#include "cli/command.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "core/progress.h"
#include "episode_log/episode_log.h"
#include "experiment/experiment.h"
#include "experiment/model_card.h"
#include "experiment/pretrain.h"
#include "experiment/sources.h"
#include "models/checkpoint.h"
#include "models/torch/configure.h"

namespace allot {
namespace {

constexpr const char* kDecisions = "held-out contended decisions";

Pretrained PretrainMargins(const PretrainOptions& o, const NetWeights& begin,
                           const GlobalOptions& globals) {
  const Part learned{.held_out = false, .hold_out_share = o.hold_out};
  const Part unseen{.held_out = true, .hold_out_share = o.hold_out};
  ImitationData data;
  ImitationData held_out;
  std::vector<LoggedEpisode> episodes;
  for (const std::string& log : o.logs) {
    for (LoggedEpisode& episode : ReadEpisodeLog(log)) {
      PlayBack(log, [&] {
        AppendImitationData(PlaybackOf(episode), learned, o.stride, &data);
        AppendImitationData(PlaybackOf(episode), unseen, o.stride, &held_out);
      });
      episodes.push_back(std::move(episode));
    }
  }
  if (episodes.empty()) throw DataError("the logs hold no episode");
  const std::string teacher = episodes.front().policy;
  const auto agreement = [&](const NetWeights& weights) {
    AgreedGpus sum;
    for (const LoggedEpisode& episode : episodes) {
      const AgreedGpus of_episode = Agreement(PlaybackOf(episode), unseen, weights);
      sum.same += of_episode.same;
      sum.logged += of_episode.logged;
    }
    return sum.share();
  };

  const IndexNetWeights start(begin);
  ImitationOptions imitation = o.imitation;
  if (imitation.epochs == 0) imitation.epochs = ImitationOptions{}.epochs;
  if (imitation.learning_rate == 0) imitation.learning_rate = ImitationOptions{}.learning_rate;
  const double before = agreement(start);
  if (!globals.quiet) {
    std::fprintf(
        stderr,
        "teacher %s: %zu episode(s), %lld contended decisions to learn from, %lld held out\n",
        teacher.c_str(), episodes.size(), static_cast<long long>(data.decisions()),
        static_cast<long long>(held_out.decisions()));
  }
  std::string curve = "epoch,loss,held_out_loss,agreement\n";
  double after = before;
  Progress progress("pretraining", imitation.epochs, globals.quiet);
  const IndexNetWeights weights =
      Imitate(data, held_out, imitation, start, [&](const ImitationReport& report) {
        after = agreement(report.weights);
        curve += held_out.decisions() > 0 ? fmt::format("{},{},{},{}\n", report.epoch, report.loss,
                                                        report.held_out_loss, after)
                                          : fmt::format("{},{},,\n", report.epoch, report.loss);
        progress.Update(report.epoch,
                        held_out.decisions() > 0
                            ? fmt::format("loss {:.4f}, held out {:.4f}, agreement {:.1f} %",
                                          report.loss, report.held_out_loss, 100 * after)
                            : fmt::format("loss {:.4f}, nothing held out", report.loss));
      });

  return {weights, teacher, curve, before, after, kDecisions};
}

int Pretrain(const PretrainOptions& o, const GlobalOptions& globals) {
  ConfigureTorch();
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
  const Pretrained made =
      sequence ? PretrainIncrements(o, start, globals) : PretrainMargins(o, start, globals);

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
      measured);
  const std::filesystem::path out(o.out);
  WriteTextFile(out / "pretrain.csv", made.curve);
  SaveCheckpoint(checkpoint, (out / "checkpoint").string());
  if (globals.json) {
    std::printf("%s\n", JsonText(checkpoint.state).c_str());
  } else {
    std::printf("%s\n", measured.c_str());
  }
  if (!globals.quiet) std::fprintf(stderr, "checkpoint: %s\n", (out / "checkpoint").c_str());
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "pretrain", "supervised warm-up from the logged decisions of any scheduler",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<PretrainOptions>();
          line.Option("--log", o->logs, "folder of a data set written with --log (repeatable)");
          line.Option("--network", o->network,
                      "network to train: ID:KEY=VALUE,..., see 'allot list networks'")
              .ShowDefault();
          line.Option("--setting", o->setting,
                      "without --log: settings in which --teacher decides (sequence networks)");
          line.Option("--teacher", o->teacher, "without --log: policy that is imitated")
              .ShowDefault();
          line.Option("--episodes", o->episodes, "without --log: episodes of the teacher")
              .Range(1, 1000000)
              .ShowDefault();
          line.Option("--passes", o->passes,
                      "passes over the episodes; from the second on the student acts (DAgger; "
                      "sequence networks)")
              .Range(1, 1000)
              .ShowDefault();
          line.Option("--smoothing", o->smoothing, "label smoothing (sequence networks)")
              .Range(0.0, 1.0)
              .ShowDefault();
          line.Option("--entropy", o->entropy, "weight of the entropy bonus (sequence networks)")
              .Range(0.0, 100.0)
              .ShowDefault();
          line.Option("-o,--out", o->out, "folder for checkpoint/ and pretrain.csv").Required();
          line.Option("--epochs", o->imitation.epochs, "passes over the decisions (default: 12)")
              .Range(1, 10000);
          line.Option("--hold-out", o->hold_out,
                      "share of the decisions kept for testing (index: blocks of 48 decisions; "
                      "sequence: episodes)")
              .Range(0.0, 0.5)
              .ShowDefault();
          line.Option("--stride", o->stride, "use every n-th contended decision")
              .Range(1, 1000)
              .ShowDefault();
          line.Option("--hidden", o->hidden, "hidden units (default: the network's own)")
              .Range(1, 1024);
          line.Option("--learning-rate", o->imitation.learning_rate,
                      "of Adam, in the first epoch (default: index 0.02, sequence 0.005)")
              .Range(1e-9, 10.0);
          line.Option("--seed", o->imitation.seed,
                      "seed of the hidden layer and of the order of decisions")
              .ShowDefault();
          return [o, &globals] { return Pretrain(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
