// allot train: reinforcement learning of a network, resumable bit for bit.

#include "agents/training/gloo_team.h"
#include "cli/training_run.h"
#include "models/torch/configure.h"

namespace allot {
namespace {

constexpr const char* kHowToScale =
    "Several processes or machines with one --out folder share a run, with the same result as "
    "one:\n"
    "  torchrun --nnodes 2 --nproc-per-node 1 --rdzv-endpoint HOST:29500 --no-python allot train "
    "...\n"
    "  MASTER_ADDR=HOST srun -n 2 allot train ...";

void Declare(CLI::App& app, TrainOptions& o) {
  app.footer(kHowToScale);
  o.world.Declare(app);
  app.add_option(
      "--network", o.network,
      "ID:KEY=VALUE,..., see 'allot list networks' (default: index, or that of --start)");
  app.add_option("--start", o.start,
                 "checkpoint folder, or fresh weights: index:alpha=0.25,beta=0.3,kappa=0.3 "
                 "(default: what --network says)");
  app.add_option("-o,--out", o.out,
                 "folder of the run: best/, latest/, curve.csv, TensorBoard events")
      ->required();
  app.add_flag("--resume", o.resume, "go on from latest/ in the folder, with the same options");
  app.add_option("--method", o.method, "ID:KEY=VALUE,..., see 'allot list methods'")
      ->capture_default_str();
  app.add_option("--objective", o.objective,
                 "what validation compares and best/ is chosen by, see 'allot list objectives'")
      ->capture_default_str();
  app.add_option("--from-log", o.from_logs,
                 "folder of an episode log, simulated or live, to train on instead of a workload: "
                 "its arrivals and measured run times (repeatable)");
  app.add_option("--history", o.history,
                 "TRACE@DATE: run times known from the start, kept in the checkpoint");
  app.add_option("--iterations", o.trainer.iterations, "gradient steps")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  app.add_option("--stop-after", o.stop_after,
                 "stop after so many iterations of this call (resume later)");
  app.add_option("--batch", o.trainer.workloads, "workloads per iteration")->capture_default_str();
  app.add_option("--episode-span", o.episode_span, "length of a training episode's arrivals")
      ->capture_default_str();
  app.add_option("--training-cluster", o.training_cluster,
                 "cluster of the episodes (default: --cluster)");
  app.add_option("--training-loads", o.training_loads, "offered loads, drawn per episode")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--teacher", o.teacher, "policy that returns are measured against")
      ->capture_default_str();
  app.add_option("--training-seed", o.trainer.seed, "of exploration and the choice of episodes")
      ->capture_default_str();
  app.add_option("--validate-every", o.validate_every,
                 "iterations between validations and checkpoints")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--validation-workloads", o.validation_workloads,
                 "fixed samples that best/ is chosen by")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{"train", "reinforcement learning from a checkpoint or a fixed index",
                            [](CLI::App& app, const GlobalOptions& globals) {
                              auto o = std::make_shared<TrainOptions>();
                              Declare(app, *o);
                              return [o, &globals] {
                                ConfigureTorch();
                                o->trainer.team = TeamFromEnvironment();
                                return RunTraining(*o, globals);
                              };
                            }}));

}  // namespace
}  // namespace allot
