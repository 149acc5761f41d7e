// allot pretrain: a network learns from the decisions of any scheduler.

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/typed_command.h"
#include "core/file.h"
#include "core/json_text.h"
#include "experiment/training/pretrain.h"
#include "models/torch/configure.h"

namespace allot {
namespace {

int RunPretrain(PretrainOptions& o, const GlobalOptions& globals) {
  ConfigureTorch();
  o.command = TypedCommand();
  const PretrainedCheckpoint made = Pretrain(o, globals);
  const std::filesystem::path out(o.out);
  WriteTextFile(out / "pretrain.csv", made.curve);
  SaveCheckpoint(made.checkpoint, (out / "checkpoint").string());
  if (globals.json) {
    std::printf("%s\n", JsonText(made.checkpoint.state).c_str());
  } else {
    std::printf("%s\n", made.measured.c_str());
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
              .ShowDefault()
              .Detail("Training");
          line.Option("--entropy", o->entropy, "weight of the entropy bonus (sequence networks)")
              .Range(0.0, 100.0)
              .ShowDefault()
              .Detail("Training");
          line.Option("-o,--out", o->out, "folder for checkpoint/ and pretrain.csv").Required();
          line.Option("--epochs", o->imitation.epochs, "passes over the decisions (default: 12)")
              .Range(1, 10000)
              .Topic("Training");
          line.Option("--hold-out", o->hold_out,
                      "share of the decisions kept for testing (index: blocks of 48 decisions; "
                      "sequence: episodes)")
              .Range(0.0, 0.5)
              .ShowDefault()
              .Detail("Training");
          line.Option("--stride", o->stride, "use every n-th contended decision")
              .Range(1, 1000)
              .ShowDefault()
              .Detail("Training");
          line.Option("--hidden", o->hidden, "hidden units (default: the network's own)")
              .Range(1, 1024)
              .Detail("Training");
          line.Option("--learning-rate", o->imitation.learning_rate,
                      "of Adam, in the first epoch (default: index 0.02, sequence 0.005)")
              .Range(1e-9, 10.0)
              .Topic("Training");
          line.Option("--seed", o->imitation.seed,
                      "seed of the hidden layer and of the order of decisions")
              .ShowDefault()
              .Detail("Training");
          return [o, &globals] { return RunPretrain(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
