// allot train: reinforcement learning of a network, resumable bit for bit.

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agents/training/gloo_team.h"
#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/typed_command.h"
#include "core/json_text.h"
#include "experiment/training/training_run.h"
#include "models/torch/configure.h"
#include "workload/trace_stats.h"

namespace allot {
namespace {

constexpr const char* kHowToScale =
    "Several processes or machines with one --out folder share a run, with the same result as "
    "one:\n"
    "  torchrun --nnodes 2 --nproc_per_node 1 --rdzv_endpoint HOST:29500 --no-python allot train "
    "...\n"
    "  MASTER_ADDR=HOST srun -n 2 allot train ...";

void DeclareTraining(CommandLine& line, TrainOptions& o) {
  line.Footer(kHowToScale);
  DeclareWorld(line, o.world);
  line.Option("--network", o.network,
              "ID:KEY=VALUE,..., see 'allot list networks' (default: index, or that of --start)");
  line.Option("--start", o.start,
              "checkpoint folder, or fresh weights: index:alpha=0.25,beta=0.3,kappa=0.3 "
              "(default: what --network says)");
  line.Option("--index", o.index,
              "the fixed index to begin at, of networks that add to one (default: the world's)")
      .Detail("Training");
  line.Option("-o,--out", o.out, "folder of the run: best/, latest/, curve.csv, TensorBoard events")
      .Required();
  line.Flag(
      "--resume", o.resume,
      "continue from latest/ in the folder, with the same options, but perhaps more iterations");
  line.Option("--method", o.method, "ID:KEY=VALUE,..., see 'allot list methods'")
      .ShowDefault()
      .Topic("Training");
  line.Option("--objective", o.objective,
              "what validation measures; best/ is chosen by it; see 'allot list objectives'")
      .ShowDefault()
      .Topic("Training");
  line.Option("--from-log", o.from_logs,
              "folder of an episode log, simulated or live, to train on instead of a workload: "
              "its arrivals and measured run times (repeatable)")
      .Detail("Training");
  line.Option("--history", o.history,
              "TRACE@DATE: run times of jobs submitted before are known; kept in the checkpoint")
      .Detail("Training");
  line.Option("--iterations", o.trainer.iterations, "gradient steps")
      .Range(1, 10000000)
      .ShowDefault()
      .Topic("Training");
  line.Option("--stop-after", o.stop_after,
              "stop this call after so many iterations (continue with --resume); 0: never")
      .Range(0, 10000000)
      .Detail("Training");
  o.patience = 5;
  line.Option("--patience", o.patience,
              "stop when so many validations in turn brought nothing better; 0: never")
      .Range(0, 10000000)
      .ShowDefault()
      .Detail("Training");
  line.Option("--batch", o.trainer.workloads, "workloads per iteration")
      .Range(1, 100000)
      .ShowDefault()
      .Topic("Training");
  line.Option("--episode-span", o.episode_span, "length of a training episode's arrivals")
      .ShowDefault()
      .Topic("Training");
  line.Option("--training-cluster", o.training_cluster,
              "cluster of the episodes (default: --cluster)")
      .Detail("Training");
  line.Option("--training-loads", o.training_loads, "offered loads, one drawn per episode")
      .SplitAt(',')
      .DefaultText("--load, else 0.7,1,1.3, lowered for a trace that does not offer them")
      .Topic("Training");
  line.Option("--teacher", o.teacher,
              "policy whose result is the unit of results; tuned: the best fixed index of each "
              "world (default: optimus; of networks that add to that index: tuned)")
      .Detail("Training");
  line.Option("--training-seed", o.trainer.seed,
              "seed of exploration and of the choice of episodes")
      .ShowDefault()
      .Detail("Training");
  line.Option("--validate-every", o.validate_every,
              "iterations between validations and checkpoints")
      .Range(1, 1000000)
      .ShowDefault()
      .Detail("Training");
  line.Option("--validation-workloads", o.validation_workloads,
              "number of fixed workloads that best/ is chosen by")
      .Range(1, 1000)
      .ShowDefault()
      .Detail("Training");
}

void PrintJson(const TrainingResult& result) {
  nlohmann::ordered_json json = {{"iterations", result.iterations},
                                 {"episodes", result.episodes},
                                 {"validation_ratio", result.validation_ratio},
                                 {"best_validation_ratio", result.best_ratio},
                                 {"best_iteration", result.best_iteration},
                                 {"stopped_early", result.stopped_early}};
  if (result.best_by_setting.size() > 1) json["best_by_setting"] = result.best_by_setting;
  if (result.read) json["read"] = nlohmann::json(*result.read);
  std::printf("%s\n", JsonText(json).c_str());
}

void Print(const TrainingResult& result, const TrainOptions& o) {
  const std::string best =
      result.best_iteration == 0 ? "the start" : fmt::format("iteration {}", result.best_iteration);
  std::printf("validation: %s %.3f of %s's (best %.3f, %s) after %lld episodes\n",
              o.objective.c_str(), result.validation_ratio, o.teacher.c_str(), result.best_ratio,
              best.c_str(), static_cast<long long>(result.episodes));
  if (result.stopped_early) {
    std::printf(
        "stopped after %lld of %d iterations: %d validations in turn brought nothing better "
        "(--patience)\n",
        static_cast<long long>(result.iterations), o.trainer.iterations, result.later_validations);
  }
  if (result.best_by_setting.size() > 1) {
    for (const auto& [setting, ratio] : result.best_by_setting) {
      std::printf("  %.3f  %s\n", ratio, setting.c_str());
    }
  }
  if (result.best_iteration == 0) {
    std::printf("best is the start: training has made nothing that is better\n");
  }
}

int Train(TrainOptions& o, const GlobalOptions& globals) {
  ConfigureTorch();
  o.command = TypedCommand();
  o.trainer.team = TeamFromEnvironment();
  const TrainingResult result = RunTraining(o, globals);
  if (o.trainer.team->rank() != 0) return 0;
  if (globals.json) {
    PrintJson(result);
  } else {
    Print(result, o);
  }
  if (!globals.quiet) {
    const std::filesystem::path out = o.out;
    std::fprintf(stderr, "checkpoints: %s (serve), %s (resume)\n", (out / "best").c_str(),
                 (out / "latest").c_str());
  }
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{"train", "reinforcement learning from a checkpoint or a fixed index",
                            [](CommandLine& line, const GlobalOptions& globals) {
                              auto o = std::make_shared<TrainOptions>();
                              DeclareTraining(line, *o);
                              return [o, &globals] { return Train(*o, globals); };
                            }}));

}  // namespace
}  // namespace allot
