#include "experiment/score/score_run.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/labelled_spec.h"
#include "core/version.h"
#include "experiment/spec_list.h"
#include "experiment/training/training_overlap.h"
#include "models/checkpoint.h"

namespace allot {
namespace {

constexpr const char* kTunedName = "tuned";

class TaskPlay {
 public:
  TaskPlay(const ScoreTask& task, const ScoreOptions& options)
      : task_(task), options_(options), world_(TestWorld(task, options.salt)) {
    scenarios_ = world_.Scenarios();
  }

  ScoredTask Play(const std::vector<Entrant>& entrants, Inputs* inputs) {
    ScoredTask scored;
    scored.task = task_.id;
    scored.setting = task_.test;
    scored.first_seed = scenarios_.front().seed;
    scored.tuned = PlayOne(Own(kTunedName, World::SpecIn(world_.settings().front(), task_.tuned)));
    for (const std::string& rule : task_.rules) {
      scored.rules.push_back(PlayOrAbsent(rule, [&] { return PlayOne(Own(rule, rule)); }));
    }
    for (const Entrant& entrant : entrants) {
      scored.entries.push_back(PlayOrAbsent(entrant.name, [&] {
        const Contender contender = entrant.in(world_);
        const auto rule = std::ranges::find(scored.rules, contender.spec, &ScoredPolicy::spec);
        ScoredPolicy entry =
            rule == scored.rules.end() || rule->absent ? PlayOne(contender) : *rule;
        AddInputs(contender.files, inputs);
        entry.training_overlap = OverlapOf(entrant);
        return entry;
      }));
    }
    return scored;
  }

 private:
  Contender Own(const std::string& name, const std::string& spec) {
    return {name, [this, spec] { return world_.MakePolicy(spec); }, spec};
  }

  // The measures of a policy on all workloads.
  ScoredPolicy PlayOne(const Contender& contender) {
    ExperimentOptions experiment;
    experiment.threads = options_.threads;
    experiment.show_progress = options_.show_progress;
    experiment.keep_unfinished = true;
    const Evaluation evaluation = RunExperiment(world_, scenarios_, {contender}, experiment);
    ScoredPolicy scored;
    scored.policy = contender.id;
    scored.spec = contender.spec.empty() ? contender.id : contender.spec;
    scored.oracle = contender.make()->info().oracle;
    for (const RunSummary& run : evaluation.policies.front().runs) {
      if (run.did_not_finish) {
        throw RunError("policy '{}' did not finish task {}: {}", contender.id, task_.id,
                       *run.did_not_finish);
      }
      scored.jct_s.push_back(run.avg_jct_s);
      scored.p99_s.push_back(run.p99_jct_s);
      scored.unfair.push_back(run.service ? run.service->unfair_share : kUnknown);
    }
    return scored;
  }

  static ScoredPolicy PlayOrAbsent(const std::string& name,
                                   const std::function<ScoredPolicy()>& play) {
    try {
      return play();
    } catch (const Error& error) {
      if (error.code() == ExitCode::kInterrupted) throw;
      ScoredPolicy absent;
      absent.policy = absent.spec = name;
      absent.absent = error.what();
      return absent;
    }
  }

  TrainingOverlap OverlapOf(const Entrant& entrant) {
    if (entrant.lineage.empty()) return TrainingOverlap::kNone;
    // The jobs of a generated world follow from the seeds, which the salt hides.
    const bool generated = task_.train == task_.test;
    if (generated && options_.salt != kPublicSalt) return TrainingOverlap::kUnseen;
    TrainingOverlap worst = TrainingOverlap::kUnseen;
    for (const nlohmann::json& config : entrant.lineage) {
      const TrainingOverlap overlap = TrainingOverlapOf(config, world_);
      if (overlap == TrainingOverlap::kSeen) return overlap;
      if (overlap != TrainingOverlap::kUnseen) worst = overlap;
    }
    return worst;
  }

  const ScoreTask& task_;
  const ScoreOptions& options_;
  World world_;
  std::vector<World::Named> scenarios_;
};

// The first entrant that is absent from all tasks is an error.
void RefuseIfAlwaysAbsent(const ScoreResult& result) {
  for (std::size_t e = 0; e < result.tasks.front().entries.size(); ++e) {
    const auto is_absent = [e](const ScoredTask& task) {
      return task.entries[e].absent.has_value();
    };
    if (!std::ranges::all_of(result.tasks, is_absent)) continue;
    const ScoredPolicy& entry = result.tasks.front().entries[e];
    throw UsageError("policy '{}' cannot play any task of suite {}; {}: {}", entry.policy,
                     result.suite, result.tasks.front().task, *entry.absent);
  }
}

// A row of the scoreboard is one policy.
void CheckNames(const std::vector<Entrant>& entrants) {
  std::set<std::string> names;
  for (const Entrant& entrant : entrants) {
    if (!names.insert(entrant.name).second) {
      throw UsageError("policy '{}' is named twice", entrant.name);
    }
    if (entrant.name == kTunedName) {
      throw UsageError("'{}' is the tuned rule of each task, no name for a policy", kTunedName);
    }
  }
}

// Refuses a name that a rule of the scoreboard has, for another policy.
void CheckLabel(const std::string& label) {
  bool known = Registry<PolicyInfo>::Global().Find(label) != nullptr;
  for (const ScoreTask& task : Registry<ScoreTask>::Global().entries()) {
    known = known || std::ranges::find(task.rules, label) != task.rules.end();
  }
  if (known)
    throw UsageError("a name for a policy must not be that of another one, got '{}'", label);
}

}  // namespace

std::vector<Entrant> ParseEntrants(const std::string& text) {
  std::vector<Entrant> entrants;
  for (const std::string& part : SplitSpecs(text)) {
    const auto [label, spec] = ReadLabel(part);
    if (label != spec) CheckLabel(label);
    Entrant entrant;
    entrant.name = label;
    entrant.in = [label = label, spec = spec](World& world) {
      world.MakePolicy(spec);  // refuses now, not after the first workloads
      return Contender{label, [&world, spec] { return world.MakePolicy(spec); }, spec,
                       world.FilesOfPolicy(spec)};
    };
    for (const std::string& file : FilesOfPolicy(spec)) {
      if (std::filesystem::exists(std::filesystem::path(file) / "manifest.json")) {
        entrant.lineage.push_back(LoadCheckpoint(file).config);
      }
    }
    entrants.push_back(std::move(entrant));
  }
  return entrants;
}

ScoreResult PlaySuite(const std::vector<Entrant>& entrants, const ScoreOptions& options) {
  CheckNames(entrants);
  ScoreResult result;
  result.suite = options.suite;
  result.salt = options.salt;
  result.version = Version();
  result.command = options.command;
  for (const ScoreTask& task : SuiteNamed(options.suite).tasks) {
    result.tasks.push_back(TaskPlay(task, options).Play(entrants, &result.inputs));
  }
  RefuseIfAlwaysAbsent(result);
  return result;
}

}  // namespace allot
