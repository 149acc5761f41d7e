#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agents/learned/agent.h"
#include "agents/training/validation.h"
#include "core/error.h"
#include "core/file.h"
#include "core/inputs.h"
#include "core/interrupt.h"
#include "core/json_text.h"
#include "core/progress.h"
#include "core/strings.h"
#include "experiment/model_card.h"
#include "experiment/sources.h"
#include "experiment/training/training_curve.h"
#include "experiment/training/training_plan.h"
#include "experiment/training/training_run.h"
#include "experiment/world.h"
#include "experiment/world_options.h"
#include "models/checkpoint.h"
#include "models/torch/configure.h"
#include "record/tensorboard.h"
#include "workload/history_file.h"
#include "workload/trace_stats.h"

namespace allot {
namespace {

constexpr const char* kUsualTeacher = "optimus";

using Json = nlohmann::ordered_json;

// One training run in its folder: latest/ to resume from, best/ to serve, curve.csv, TensorBoard
// events. In a team of processes every one goes through it, the first one writes.
class TrainCommandRun {
 public:
  TrainCommandRun(TrainOptions& options, const GlobalOptions& globals)
      : o_(options),
        world_(AtIntervals(options.world)),
        globals_(globals),
        out_(options.out),
        leads_(o_.trainer.team->rank() == 0) {
    if (o_.training_cluster.empty() && !world_.in_settings()) {
      o_.training_cluster = o_.world.cluster;
    }
    if (o_.teacher.empty() && !o_.resume) o_.teacher = UsualTeacher();
    const std::string loads_note = ChooseTrainingLoads(&world_, &o_);
    config_ = EffectiveConfig();
    TrainerState state = o_.resume ? Resume() : Start();
    if (!o_.resume) {
      config_["sources"] = Sources();
      config_["inputs"] = InputsOfNow();
    }
    o_.trainer.threads = globals.threads;
    if (!o_.history.empty()) o_.trainer.lengths = LengthModelOf(ReadHistory(o_.history));
    TrainingPlan trained = MakeTrainingPlan(&world_, &o_);
    if (!globals.quiet && leads_) std::fputs((trained.note + loads_note).c_str(), stderr);
    validation_ = std::make_unique<Validation>(
        std::move(trained.validation), ObjectiveNamed(o_.objective), trained.validation_decisions,
        globals.threads, o_.trainer.team);
    trainer_ = MakeTrainer(o_.method, o_.trainer, std::move(trained.episodes), std::move(state));
    if (leads_) {
      events_ = std::make_unique<TensorboardWriter>(
          out_, fmt::format("{:06}", trainer_->state().iteration));
    }
  }

  TrainingResult Run() {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const std::int64_t first = trainer_->state().iteration;
    const std::int64_t first_episodes = trainer_->state().episodes;
    if (history_.empty()) AddRow(IterationReport{});
    if (validation_due_) Validate();
    Progress progress("training", o_.trainer.iterations, globals_.quiet || !leads_);
    while (!Done() && !NothingMoreComes() && !AnyOf(*o_.trainer.team, Interrupted())) {
      IterationReport report;
      try {
        report = trainer_->Step();
      } catch (const Error& error) {
        if (error.code() == ExitCode::kRunFailed) ThrowSpoiled(error);
        if (error.code() != ExitCode::kInterrupted) throw;
        break;  // the state is that of the last iteration
      }
      if (report.iteration == first + 1) SayIfRatesFall(report);
      AddRow(report);
      validation_due_ = report.iteration % o_.validate_every == 0 || Done();
      if (validation_due_) {
        Validate();
        Save();
      }
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      progress.Update(
          report.iteration,
          fmt::format("{:.0f} episodes/s, {:.3f} of {}, validation {:.3f} (best {:.3f})",
                      static_cast<double>(report.episodes - first_episodes) / seconds,
                      report.ratio_to_teacher, o_.teacher, last_validation_, best_));
      if (o_.stop_after > 0 && report.iteration - first >= o_.stop_after) break;
    }
    Save();
    if (Interrupted()) ThrowStopped();
    return Result();
  }

 private:
  // The trainer's state is that before the iteration that failed.
  [[noreturn]] void ThrowSpoiled(const Error& error) {
    Save();
    throw RunError("{} (weights of iteration {}: {}; of the best validation so far: {})",
                   error.what(), trainer_->state().iteration, (out_ / "latest").string(),
                   (out_ / "best").string());
  }

  [[noreturn]] void ThrowStopped() const {
    const std::string how = o_.how_to_continue.empty()
                                ? "continue with: allot train --resume ... --out " + o_.out
                                : o_.how_to_continue;
    throw Error(ExitCode::kInterrupted, fmt::format("interrupted after iteration {}; {}",
                                                    trainer_->state().iteration, how));
  }

  Json EffectiveConfig() {
    const Json world =
        o_.from_logs.empty() ? world_.ToJson() : Json{{"workload", Join(o_.from_logs, ", ")}};
    return Json{{"world", world},
                {"episode_span", o_.episode_span},
                {"training_cluster", o_.training_cluster},
                {"training_loads", o_.training_loads},
                {"network", o_.network},
                {"method", o_.method},
                {"objective", o_.objective},
                {"iterations", o_.trainer.iterations},
                {"workloads_per_iteration", o_.trainer.workloads},
                {"teacher", o_.teacher},
                {"history", o_.history},
                {"start", o_.start},
                {"index", o_.index},
                {"training_seed", o_.trainer.seed},
                {"validate_every", o_.validate_every},
                {"validation_workloads", o_.validation_workloads}};
  }

  // Of what every step of the training reads.
  Inputs InputsOfNow() {
    Inputs inputs;
    AddInputs(o_.from_logs.empty() ? FilesOfWorld(o_.world) : o_.from_logs, &inputs);
    AddInputs(TheFile(o_.training_cluster), &inputs);
    AddInputs(FilesOfHistory(o_.history), &inputs);
    AddInputs(world_.FilesOfPolicy(o_.teacher), &inputs);
    return inputs;
  }

  // Of the weights and the length model to be.
  nlohmann::json Sources() {
    nlohmann::json sources = o_.from_logs.empty() ? SourcesOf(world_) : SourcesOfLogs(o_.from_logs);
    if (!o_.history.empty()) AddSources(SourcesOfHistory(o_.history), &sources);
    if (StartsAtCheckpoint()) {
      AddSources(SourcesOfCheckpoint(LoadCheckpoint(o_.start).config), &sources);
    }
    return sources;
  }

  bool StartsAtCheckpoint() const {
    return !o_.start.empty() &&
           Registry<NetworkInfo>::Global().Find(ParseNamedParams(o_.start).name) == nullptr;
  }

  TrainerState Start() {
    if (std::filesystem::exists(out_ / "latest")) {
      throw UsageError(
          "'{}' contains a training run: add --resume to continue it, or choose another --out",
          o_.out);
    }
    TrainerState state;
    state.weights = StartWeights();
    if (const auto& begin_in = NetworkOf(state.weights).begin_in) {
      for (const auto& [world, index] : IndicesFor(&world_, o_)) {
        begin_in(&state.weights, world, index);
      }
    }
    return state;
  }

  std::string UsualTeacher() const {
    return NetworkOf(StartWeights()).begin_in ? kTunedIndex : kUsualTeacher;
  }

  // A checkpoint's, or fresh ones.
  NetWeights StartWeights() const {
    const std::string spec = !o_.start.empty()    ? o_.start
                             : o_.network.empty() ? "index"
                                                  : o_.network;
    NetWeights weights =
        StartsAtCheckpoint() ? LoadAgent(spec).weights : MakeNetwork(spec, o_.trainer.seed);
    const std::string asked = ParseNamedParams(o_.network.empty() ? weights.kind : o_.network).name;
    if (weights.kind != asked) {
      throw UsageError("--start '{}' is a network '{}', --network asks for '{}'", o_.start,
                       weights.kind, asked);
    }
    return weights;
  }

  TrainerState Resume() {
    const std::string path = (out_ / "latest").string();
    if (!std::filesystem::exists(path)) {
      throw UsageError(
          "--resume needs a checkpoint, and '{}' has none: a run writes the first one at its first "
          "validation; start without --resume",
          o_.out);
    }
    Checkpoint checkpoint = LoadCheckpoint(path);
    RequireServable(checkpoint, path);
    // Where it began is history: it need not be said again.
    const auto start = checkpoint.config.find("start");
    if (start == checkpoint.config.end()) {
      config_.erase("start");
    } else if (o_.start.empty()) {
      config_["start"] = *start;
    }
    if (o_.teacher.empty()) {
      o_.teacher = checkpoint.config.value("teacher", kUsualTeacher);
      config_["teacher"] = o_.teacher;
    }
    for (const auto& [key, value] : config_.items()) {
      const auto saved = checkpoint.config.find(key);
      const bool extended = key == "iterations" && saved != checkpoint.config.end() &&
                            saved->get<std::int64_t>() < value.get<std::int64_t>();
      if (extended) extended_from_ = *saved;
      if (!extended && (saved == checkpoint.config.end() || *saved != value)) {
        throw UsageError(
            "'{}' was trained with {} = {}, now it is {}: resume with the same options", path, key,
            saved == checkpoint.config.end() ? "(nothing)" : saved->dump(), value.dump());
      }
    }
    const Inputs inputs = InputsOfNow();
    const auto before = checkpoint.config.find("inputs");  // of earlier versions: not known
    if (before != checkpoint.config.end()) RequireSameInputs(before->get<Inputs>(), inputs, path);
    TrainerState state;
    config_["inputs"] = inputs;
    config_["sources"] = SourcesOfCheckpoint(checkpoint.config);
    state.weights = std::move(checkpoint.weights);
    if (checkpoint.adam) state.adam = std::move(*checkpoint.adam);
    state.memory = std::move(checkpoint.memory);
    state.iteration = checkpoint.state.at("iteration");
    state.episodes = checkpoint.state.at("episodes");
    const auto figure = [&](const char* key) {  // JSON has no infinity
      return checkpoint.state.at(key).is_null() ? kNever : checkpoint.state.at(key).get<double>();
    };
    best_ = figure("best_validation");
    last_validation_ = figure("last_validation");
    validation_due_ = checkpoint.state.value("validation_due", false);
    history_ = checkpoint.state.at("history");
    if (!history_.empty()) cpu_before_ = history_.back().at("cpu_s");
    return state;
  }

  bool Done() const { return trainer_->state().iteration >= o_.trainer.iterations; }

  bool NothingMoreComes() const { return o_.patience > 0 && BestOf(history_).later >= o_.patience; }

  double CpuSeconds() const {
    return cpu_before_ + static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  }

  void AddRow(const IterationReport& report) {
    history_.push_back(
        {{"iteration", report.iteration},
         {"episodes", report.episodes},
         {"cpu_s", CpuSeconds()},
         {"train_ratio", report.iteration > 0 ? Json(report.ratio_to_teacher) : Json()},
         {"validation_ratio", Json()},
         {"learning_rate", report.learning_rate}});
    if (!leads_) return;
    if (report.iteration > 0) {
      events_->Add("charts/episodic_return", -report.ratio_to_teacher, report.iteration);
      events_->Add("charts/learning_rate", report.learning_rate, report.iteration);
      events_->Add("losses/gradient_norm", report.gradient_norm, report.iteration);
      events_->Add("losses/signal", report.signal, report.iteration);
    }
  }

  // Of the last row's weights. Stopped meanwhile, the next run begins with it.
  void Validate() {
    try {
      const Validation::Ratios ratios =
          validation_->Of({trainer_->state().weights, o_.trainer.lengths});
      last_validation_ = ratios.mean;
      last_by_group_ = ratios.by_group;
    } catch (const Error& error) {
      if (error.code() != ExitCode::kInterrupted) throw;
      Save();
      ThrowStopped();
    }
    validation_due_ = false;
    Json& row = history_.back();
    row["cpu_s"] = CpuSeconds();
    row["validation_ratio"] = last_validation_;
    if (leads_) {
      events_->Add("sched/validation_jct_ratio", last_validation_, row.at("iteration"));
    }
    SayIfWorse();
    if (last_validation_ < best_) {
      best_ = last_validation_;
      best_by_group_ = last_by_group_;
      if (leads_) SaveCheckpoint(MakeCheckpoint(false), (out_ / "best").string());
    }
  }

  // A validation above the best so far by more than this is worth a warning.
  static constexpr double kWorse = 1.01;

  std::string NameOfBest() const {
    const std::int64_t at = BestOf(history_).iteration;
    return at == 0 ? "the start" : fmt::format("iteration {}", at);
  }

  void SayIfWorse() const {
    if (globals_.quiet || !leads_ || !(last_validation_ > kWorse * best_)) return;
    std::fprintf(stderr, "warning: validation has risen to %.3f, %s had %.3f, which best/ holds\n",
                 last_validation_, NameOfBest().c_str(), best_);
  }

  // A run of more iterations would have had other learning rates up to here, unless they stay.
  void SayIfRatesFall(const IterationReport& report) const {
    if (extended_from_ == 0 || globals_.quiet || !leads_) return;
    const bool same = std::all_of(history_.begin(), history_.end(), [&](const Json& row) {
      return row.at("iteration") == 0 || row.at("learning_rate") == report.learning_rate;
    });
    if (same) return;
    const double before = history_.back().at("learning_rate");
    std::fprintf(stderr,
                 "note: extended from %d to %d iterations; the learning rate falls over all of "
                 "them, was %.2g and is %.2g now: the weights will not be those of one run of %d\n",
                 extended_from_, o_.trainer.iterations, before, report.learning_rate,
                 o_.trainer.iterations);
  }

  Checkpoint MakeCheckpoint(bool resumable) const {
    const TrainerState& state = trainer_->state();
    Checkpoint checkpoint;
    checkpoint.feature_version = NetworkOf(state.weights).feature_version;
    checkpoint.weights = state.weights;
    checkpoint.state = {{"stage", "trained"},
                        {"iteration", state.iteration},
                        {"episodes", state.episodes},
                        {"best_validation", best_},
                        {"last_validation", last_validation_},
                        {"validation_due", validation_due_}};
    AddLengths(o_.trainer.lengths, &checkpoint.state);
    if (resumable) {
      checkpoint.adam = state.adam;
      checkpoint.memory = state.memory;
      checkpoint.state["history"] = history_;
    }
    checkpoint.config = config_;
    checkpoint.card =
        ModelCard(fmt::format("Network '{}', {}", state.weights.kind, o_.method), o_.command,
                  fmt::format("{} {:.3f} of that of {} on {} validation samples of the "
                              "training weeks, after {} episodes",
                              o_.objective, last_validation_, o_.teacher, o_.validation_workloads,
                              state.episodes));
    return checkpoint;
  }

  void Save() {
    if (!leads_) return;
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

  TrainingResult Result() const {
    const BestValidation best = BestOf(history_);
    const bool reads = o_.from_logs.empty() && !world_.in_settings() && !world_.made_by_law();
    return {.iterations = trainer_->state().iteration,
            .episodes = trainer_->state().episodes,
            .validation_ratio = last_validation_,
            .best_ratio = best_,
            .best_by_setting = best_by_group_,
            .best_iteration = best.iteration,
            .later_validations = best.later,
            .stopped_early = !Done() && NothingMoreComes(),
            .read = reads ? std::optional(world_.read_report()) : std::nullopt};
  }

  TrainOptions& o_;
  World world_;
  const GlobalOptions& globals_;
  std::filesystem::path out_;
  const bool leads_;  // writes files and says something; the others of the team only compute
  Json config_;
  Json history_ = Json::array();
  double cpu_before_ = 0;  // of the calls that this one resumes
  double best_ = kNever;
  double last_validation_ = kNever;
  bool validation_due_ = true;  // of the start
  int extended_from_ = 0;       // iterations of the run that is resumed with more, else 0
  std::map<std::string, double> last_by_group_;
  std::map<std::string, double> best_by_group_;  // of this call
  std::unique_ptr<Validation> validation_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<TensorboardWriter> events_;
};

}  // namespace

TrainingResult RunTraining(TrainOptions& options, const GlobalOptions& globals) {
  return TrainCommandRun(options, globals).Run();
}

}  // namespace allot
