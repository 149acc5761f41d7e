// allot train: reinforcement learning of the index network, resumable bit for bit.

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agents/learned/index_policy.h"
#include "agents/training/policy_gradient.h"
#include "agents/training/validation.h"
#include "cli/experiment.h"
#include "cli/model_card.h"
#include "core/error.h"
#include "core/file.h"
#include "core/interrupt.h"
#include "core/json_text.h"
#include "core/progress.h"
#include "models/checkpoint.h"
#include "models/torch/configure.h"
#include "record/tensorboard.h"
#include "workload/trace_stats.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct TrainOptions {
  World world;
  std::string start;
  std::string out;
  bool resume = false;
  std::string episode_span = "3d";
  std::string training_cluster;
  std::vector<double> training_loads = {0.7, 1.0, 1.3};
  int validate_every = 10;
  int validation_workloads = 6;
  int stop_after = 0;
  PolicyGradientOptions gradient;
};

// One training run in its folder: latest/ to resume from, best/ to serve, curve.csv, TensorBoard
// events.
class TrainingRun {
 public:
  TrainingRun(TrainOptions& options, const GlobalOptions& globals)
      : o_(options), globals_(globals), out_(options.out) {
    if (o_.training_cluster.empty()) o_.training_cluster = o_.world.cluster_text();
    config_ = EffectiveConfig();
    PolicyGradientState state = o_.resume ? Resume() : Start();
    const ClusterSpec cluster = ClusterSpec::Parse(o_.training_cluster);
    const Seconds span = ParseWhen(o_.world.trace(), o_.episode_span);
    if (!globals.quiet) std::fputs(o_.world.ReadNote().c_str(), stderr);
    // An episode is cut at twice its span: a policy must not learn to wait for the last giant.
    o_.gradient.rollout.max_decisions =
        static_cast<std::int64_t>(2 * span / o_.world.sim().interval);
    o_.gradient.threads = globals.threads;
    const EpisodeSource episodes = o_.world.TrainingEpisodes(cluster, span, o_.training_loads);
    validation_ =
        std::make_unique<Validation>(ValidationScenarios(cluster, span), o_.gradient.teacher,
                                     o_.gradient.rollout, globals.threads);
    trainer_ = std::make_unique<PolicyGradientTrainer>(o_.gradient, episodes, std::move(state));
    events_ = std::make_unique<TensorboardWriter>(
        out_, fmt::format("{:06}", trainer_->state().iteration));
  }

  int Run() {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const std::int64_t first = trainer_->state().iteration;
    const std::int64_t first_episodes = trainer_->state().episodes;
    if (history_.empty()) Validate(IterationReport{});
    Progress progress("training", o_.gradient.iterations, globals_.quiet);
    while (!trainer_->done() && !Interrupted()) {
      const IterationReport report = trainer_->Step();
      const bool due = report.iteration % o_.validate_every == 0 || trainer_->done();
      if (due) {
        Validate(report);
        Save();
      } else {
        AddRow(report, std::nullopt);
      }
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      progress.Update(
          report.iteration,
          fmt::format("{:.0f} episodes/s, mean JCT {:.3f} of {}, validation {:.3f} (best {:.3f})",
                      static_cast<double>(report.episodes - first_episodes) / seconds,
                      report.ratio_to_teacher, o_.gradient.teacher, last_validation_, best_));
      if (o_.stop_after > 0 && report.iteration - first >= o_.stop_after) break;
    }
    Save();
    if (Interrupted()) {
      throw Error(
          ExitCode::kInterrupted,
          fmt::format(
              "interrupted after iteration {}; go on with: allot train --resume ... --out {}",
              trainer_->state().iteration, o_.out));
    }
    return Finish();
  }

 private:
  Json EffectiveConfig() {
    const PolicyGradientOptions& g = o_.gradient;
    return Json{{"world", o_.world.ToJson()},
                {"episode_span", o_.episode_span},
                {"training_cluster", o_.training_cluster},
                {"training_loads", o_.training_loads},
                {"iterations", g.iterations},
                {"workloads_per_iteration", g.workloads},
                {"rollouts", g.rollouts},
                {"tau", g.rollout.tau},
                {"keep", g.rollout.keep},
                {"reward", g.rollout.reward},
                {"discount_half_life_s", g.discount_half_life},
                {"learning_rate", g.learning_rate},
                {"final_learning_rate", g.final_learning_rate},
                {"teacher", g.teacher},
                {"training_seed", g.seed},
                {"validate_every", o_.validate_every},
                {"validation_workloads", o_.validation_workloads}};
  }

  PolicyGradientState Start() {
    if (std::filesystem::exists(out_ / "latest")) {
      throw UsageError("'{}' holds a training run: add --resume to go on, or choose another --out",
                       o_.out);
    }
    PolicyGradientState state;
    state.weights = o_.start.empty() ? IndexAgentAt({.alpha = 0.25F, .beta = 0.3F, .kappa = 0.3F},
                                                    16, o_.gradient.seed)
                                     : LoadIndexWeights(o_.start);
    return state;
  }

  PolicyGradientState Resume() {
    const std::string path = (out_ / "latest").string();
    Checkpoint checkpoint = LoadCheckpoint(path);
    RequireCompatible(checkpoint, kIndexKind, kFeatureVersion,
                      IndexAgentShape(checkpoint.weights.shape.hidden), path);
    for (const auto& [key, value] : config_.items()) {
      const auto saved = checkpoint.config.find(key);
      if (saved == checkpoint.config.end() || *saved != value) {
        throw UsageError(
            "'{}' was trained with {} = {}, now it is {}: resume with the same options", path, key,
            saved == checkpoint.config.end() ? "(nothing)" : saved->dump(), value.dump());
      }
    }
    PolicyGradientState state;
    state.weights = std::move(checkpoint.weights);
    if (checkpoint.adam) state.adam = std::move(*checkpoint.adam);
    state.iteration = checkpoint.state.at("iteration");
    state.episodes = checkpoint.state.at("episodes");
    best_ = checkpoint.state.at("best_validation");
    last_validation_ = checkpoint.state.at("last_validation");
    history_ = checkpoint.state.at("history");
    if (!history_.empty()) cpu_before_ = history_.back().at("cpu_s");
    return state;
  }

  // Samples of the training weeks that training itself never draws (another seed stream), at every
  // load.
  std::vector<std::shared_ptr<const Scenario>> ValidationScenarios(const ClusterSpec& cluster,
                                                                   Seconds span) {
    std::vector<std::shared_ptr<const Scenario>> scenarios;
    for (int k = 0; k < o_.validation_workloads; ++k) {
      const double load = o_.training_loads[static_cast<std::size_t>(k) % o_.training_loads.size()];
      const EpisodeSource source = o_.world.TrainingEpisodes(cluster, span, {load});
      scenarios.push_back(source(0x76616c6964000000ULL + static_cast<std::uint64_t>(k)));
    }
    return scenarios;
  }

  void AddRow(const IterationReport& report, std::optional<double> validation) {
    history_.push_back(
        {{"iteration", report.iteration},
         {"episodes", report.episodes},
         {"cpu_s", cpu_before_ + static_cast<double>(std::clock()) / CLOCKS_PER_SEC},
         {"train_ratio", report.iteration > 0 ? Json(report.ratio_to_teacher) : Json()},
         {"validation_ratio", validation ? Json(*validation) : Json()},
         {"learning_rate", report.learning_rate}});
    if (report.iteration > 0) {
      events_->Add("charts/episodic_return", -report.ratio_to_teacher, report.iteration);
      events_->Add("charts/learning_rate", report.learning_rate, report.iteration);
      events_->Add("losses/gradient_norm", report.gradient_norm, report.iteration);
      events_->Add("losses/advantage_rms", report.advantage_rms, report.iteration);
    }
    if (validation) events_->Add("sched/validation_jct_ratio", *validation, report.iteration);
  }

  void Validate(const IterationReport& report) {
    last_validation_ = validation_->Ratio(trainer_->state().weights);
    AddRow(report, last_validation_);
    if (last_validation_ < best_) {
      best_ = last_validation_;
      SaveCheckpoint(MakeCheckpoint(false), (out_ / "best").string());
    }
  }

  Checkpoint MakeCheckpoint(bool resumable) const {
    const PolicyGradientState& state = trainer_->state();
    Checkpoint checkpoint;
    checkpoint.kind = std::string(kIndexKind);
    checkpoint.feature_version = kFeatureVersion;
    checkpoint.weights = state.weights;
    checkpoint.state = {{"stage", "trained"},
                        {"iteration", state.iteration},
                        {"episodes", state.episodes},
                        {"best_validation", best_},
                        {"last_validation", last_validation_}};
    if (resumable) {
      checkpoint.adam = state.adam;
      checkpoint.state["history"] = history_;
    }
    checkpoint.config = config_;
    checkpoint.card = ModelCard("Index network, policy gradient",
                                fmt::format("mean JCT {:.3f} of {} on {} validation samples of the "
                                            "training weeks, after {} episodes",
                                            last_validation_, o_.gradient.teacher,
                                            o_.validation_workloads, state.episodes));
    return checkpoint;
  }

  void Save() {
    SaveCheckpoint(MakeCheckpoint(true), (out_ / "latest").string());
    std::string curve = "iteration,episodes,cpu_s,train_ratio,validation_ratio,learning_rate\n";
    for (const auto& row : history_) {
      const auto cell = [&](const char* key) {
        return row.at(key).is_null() ? "" : row.at(key).dump();
      };
      curve +=
          fmt::format("{},{},{},{},{},{}\n", cell("iteration"), cell("episodes"), cell("cpu_s"),
                      cell("train_ratio"), cell("validation_ratio"), cell("learning_rate"));
    }
    WriteTextFile(out_ / "curve.csv", curve);
    events_->Flush();
  }

  int Finish() {
    if (globals_.json) {
      Json json = {{"iterations", trainer_->state().iteration},
                   {"episodes", trainer_->state().episodes},
                   {"validation_ratio", last_validation_},
                   {"best_validation_ratio", best_}};
      if (!o_.world.made_by_law()) json["read"] = nlohmann::json(o_.world.read_report());
      std::printf("%s\n", JsonText(json).c_str());
    } else {
      std::printf("validation: mean JCT %.3f of %s (best %.3f) after %lld episodes\n",
                  last_validation_, o_.gradient.teacher.c_str(), best_,
                  static_cast<long long>(trainer_->state().episodes));
    }
    if (!globals_.quiet)
      std::fprintf(stderr, "checkpoints: %s (serve), %s (resume)\n", (out_ / "best").c_str(),
                   (out_ / "latest").c_str());
    return 0;
  }

  TrainOptions& o_;
  const GlobalOptions& globals_;
  std::filesystem::path out_;
  Json config_;
  Json history_ = Json::array();
  double cpu_before_ = 0;  // of the calls that this one resumes
  double best_ = kNever;
  double last_validation_ = kNever;
  std::unique_ptr<Validation> validation_;
  std::unique_ptr<PolicyGradientTrainer> trainer_;
  std::unique_ptr<TensorboardWriter> events_;
};

void Declare(CLI::App& app, TrainOptions& o) {
  o.world.Declare(app);
  app.add_option("--start", o.start, "checkpoint to start from (default: a fixed index)");
  app.add_option("-o,--out", o.out,
                 "folder of the run: best/, latest/, curve.csv, TensorBoard events")
      ->required();
  app.add_flag("--resume", o.resume, "go on from latest/ in the folder, with the same options");
  app.add_option("--iterations", o.gradient.iterations, "gradient steps")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  app.add_option("--stop-after", o.stop_after,
                 "stop after so many iterations of this call (resume later)");
  app.add_option("--batch", o.gradient.workloads, "workloads per iteration")->capture_default_str();
  app.add_option("--rollouts", o.gradient.rollouts, "rollouts of each workload (same arrivals)")
      ->capture_default_str();
  app.add_option("--episode-span", o.episode_span, "length of a training episode's arrivals")
      ->capture_default_str();
  app.add_option("--training-cluster", o.training_cluster,
                 "cluster of the episodes (default: --cluster)");
  app.add_option("--training-loads", o.training_loads, "offered loads, drawn per episode")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--tau", o.gradient.rollout.tau, "temperature of exploration")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--keep", o.gradient.rollout.keep, "share of decisions that enter the gradient")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--reward", o.gradient.rollout.reward, "see 'allot list rewards'")
      ->capture_default_str();
  app.add_option("--half-life", o.gradient.discount_half_life,
                 "seconds after which a reward counts half")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--learning-rate", o.gradient.learning_rate, "of Adam, at the start")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--final-learning-rate", o.gradient.final_learning_rate, "and at the end")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--teacher", o.gradient.teacher, "policy that returns are measured against")
      ->capture_default_str();
  app.add_option("--training-seed", o.gradient.seed, "of exploration and the choice of episodes")
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
                                return TrainingRun(*o, globals).Run();
                              };
                            }}));

}  // namespace
}  // namespace allot
