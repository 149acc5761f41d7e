// allot pretrain: the index network learns a teacher's priorities from logged decisions.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "agents/learned/index_agent.h"
#include "agents/training/imitation.h"
#include "cli/command.h"
#include "cli/episode_log.h"
#include "cli/experiment.h"
#include "cli/model_card.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "core/progress.h"
#include "models/checkpoint.h"
#include "models/torch/configure.h"

namespace allot {
namespace {

struct PretrainOptions {
  std::vector<std::string> logs;
  std::string out;
  double hold_out = 0.2;
  int stride = 1;
  int hidden = 16;
  ImitationOptions imitation;
};

int Pretrain(const PretrainOptions& o, const GlobalOptions& globals) {
  ConfigureTorch();
  const Part learned{.held_out = false, .hold_out_share = o.hold_out};
  const Part unseen{.held_out = true, .hold_out_share = o.hold_out};
  ImitationData data;
  ImitationData held_out;
  std::vector<LoggedEpisode> episodes;
  for (const std::string& log : o.logs) {
    for (LoggedEpisode& episode : ReadEpisodeLog(log)) {
      PlayBack(log, [&] {
        AppendImitationData(*episode.scenario, episode.decisions, learned, o.stride, &data);
        AppendImitationData(*episode.scenario, episode.decisions, unseen, o.stride, &held_out);
      });
      episodes.push_back(std::move(episode));
    }
  }
  if (episodes.empty()) throw DataError("the logs hold no episode");
  const std::string teacher = episodes.front().policy;
  const auto agreement = [&](const NetWeights& weights) {
    double sum = 0;
    for (const LoggedEpisode& episode : episodes) {
      sum += Agreement(*episode.scenario, episode.decisions, unseen, weights);
    }
    return sum / static_cast<double>(episodes.size());
  };

  const IndexNetWeights start = IndexAgentAt({}, o.hidden, o.imitation.seed);
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
  Progress progress("pretraining", o.imitation.epochs, globals.quiet);
  const IndexNetWeights weights =
      Imitate(data, held_out, o.imitation, start, [&](const ImitationReport& report) {
        after = agreement(report.weights);
        curve +=
            fmt::format("{},{},{},{}\n", report.epoch, report.loss, report.held_out_loss, after);
        progress.Update(report.epoch,
                        fmt::format("loss {:.4f}, held out {:.4f}, agreement {:.1f} %", report.loss,
                                    report.held_out_loss, 100 * after));
      });

  Checkpoint checkpoint;
  checkpoint.feature_version = kFeatureVersion;
  checkpoint.weights = weights;
  checkpoint.state = {{"stage", "pretrained"},
                      {"teacher", teacher},
                      {"agreement_before", before},
                      {"agreement", after}};
  checkpoint.config = {{"logs", o.logs},         {"epochs", o.imitation.epochs},
                       {"hold_out", o.hold_out}, {"stride", o.stride},
                       {"hidden", o.hidden},     {"seed", o.imitation.seed},
                       {"tau", o.imitation.tau}, {"learning_rate", o.imitation.learning_rate}};
  checkpoint.card = ModelCard(
      fmt::format("Index network, supervised on decisions of {}", teacher),
      fmt::format("agreement with {} on held-out contended decisions: {:.1f} % of the GPUs "
                  "(untrained: {:.1f} %)",
                  teacher, 100 * after, 100 * before));
  const std::filesystem::path out(o.out);
  WriteTextFile(out / "pretrain.csv", curve);
  SaveCheckpoint(checkpoint, (out / "checkpoint").string());
  if (globals.json) {
    std::printf("%s\n", JsonText(checkpoint.state).c_str());
  } else {
    std::printf(
        "agreement with %s on held-out contended decisions: %.1f %% of the GPUs go to the same "
        "jobs "
        "(untrained: %.1f %%)\n",
        teacher.c_str(), 100 * after, 100 * before);
  }
  if (!globals.quiet) std::fprintf(stderr, "checkpoint: %s\n", (out / "checkpoint").c_str());
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "pretrain", "supervised warm-up from the logged decisions of any scheduler",
        [](CLI::App& app, const GlobalOptions& globals) {
          auto o = std::make_shared<PretrainOptions>();
          app.add_option("--log", o->logs, "folder of a data set written with --log (repeatable)")
              ->required();
          app.add_option("-o,--out", o->out, "folder for checkpoint/ and pretrain.csv")->required();
          app.add_option("--epochs", o->imitation.epochs, "passes over the decisions")
              ->check(CLI::Range(1, 10000))
              ->capture_default_str();
          app.add_option("--hold-out", o->hold_out,
                         "share of each episode that is not learned from (blocks of 48 decisions)")
              ->check(CLI::Range(0.0, 0.5))
              ->capture_default_str();
          app.add_option("--stride", o->stride, "use every n-th contended decision")
              ->check(CLI::Range(1, 1000))
              ->capture_default_str();
          app.add_option("--hidden", o->hidden, "hidden units")
              ->check(CLI::Range(1, 1024))
              ->capture_default_str();
          app.add_option("--learning-rate", o->imitation.learning_rate, "of Adam, at the start")
              ->capture_default_str();
          app.add_option("--seed", o->imitation.seed,
                         "of the hidden layer and the order of decisions")
              ->capture_default_str();
          return [o, &globals] { return Pretrain(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
