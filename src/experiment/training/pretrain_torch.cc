#include <cmath>

#include "agents/learned/agent.h"
#include "core/error.h"
#include "core/inputs.h"
#include "core/named_files.h"
#include "envs/setting.h"
#include "episode_log/verify.h"
#include "experiment/model_card.h"
#include "experiment/sources.h"
#include "experiment/training/pretrain.h"

namespace allot {

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
