// allot evaluate: compares a trained checkpoint with other policies, and reports whether training
// saw the workloads.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "agents/learned/agent.h"
#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/run_command.h"
#include "experiment/training/training_overlap.h"
#include "models/checkpoint.h"
#include "sim/profile.h"

namespace allot {
namespace {

struct EvaluateOptions {
  WorldSpec world;
  std::string checkpoint;
  std::optional<std::string> against;
  std::string title;
  bool seen = false;
  std::string out;
  LogOptions log;
};

// A policy that `allot learn` made for lengths of one kind is judged by that kind, unless another
// is asked for: for lengths that it never had, its numbers are those of another world.
void UseLengthsOfPolicy(const nlohmann::json& config, World* world, const GlobalOptions& globals) {
  const auto made_for = config.find("length_estimates");
  if (made_for == config.end() || !made_for->is_string() || world->in_settings()) return;
  if (!world->spec().lengths.empty()) return;
  const auto kind = made_for->get<std::string>();
  world->GoByTimeLimits(kind == "user" ? "none" : kind);
  if (globals.quiet) return;
  fmt::print(
      stderr, "note: policies get job lengths '{}', as {}; --length-estimates changes it\n",
      world->spec().lengths,
      world->spec().lengths == kind ? "where this one was made" : "the trace has time limits");
}

int Evaluate(EvaluateOptions& o, const GlobalOptions& globals) {
  // Loaded before anything runs, so that a damaged checkpoint stops the command here.
  const auto agent = std::make_shared<const Agent>(LoadAgent(o.checkpoint));
  const nlohmann::json config = LoadCheckpoint(o.checkpoint).config;
  World world(o.world);
  UseLengthsOfPolicy(config, &world, globals);
  std::vector<Contender> contenders;
  const Serving serving{.world = world.name()};
  MakeLearnedPolicy(*agent, serving);  // fails now instead of after minutes
  contenders.push_back({.id = "learned",
                        .make = [agent, serving] { return MakeLearnedPolicy(*agent, serving); },
                        .files = {o.checkpoint}});
  const std::string against = o.against.value_or(world.ComparedPolicies());
  if (!against.empty()) {
    for (Contender& contender : ParseContenders(world, against))
      contenders.push_back(std::move(contender));
  }
  ExperimentOptions experiment = OptionsOf(globals);
  experiment.title = o.title.empty() ? "Checkpoint " + o.checkpoint : o.title;
  experiment.training_overlap = o.seen ? TrainingOverlap::kSeen : TrainingOverlapOf(config, world);
  experiment.out = o.out;
  o.log.Set(&experiment);
  experiment.reference = "learned";
  const Evaluation evaluation =
      RunWithNotes(world, world.Scenarios(), contenders, experiment, globals);
  return PrintEvaluation(evaluation, experiment, globals);
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "evaluate", "compare a trained checkpoint with other policies",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<EvaluateOptions>();
          DeclareWorld(line, o->world);
          line.Option("--checkpoint", o->checkpoint, "checkpoint folder").Required();
          line.Option("--against", o->against, "policies to compare with, joined by commas")
              .DefaultText(ComparedPolicies() + "; of a peer's profile the repaired ones");
          line.Option("--title", o->title, "title of the table in the report");
          line.Flag(
              "--seen", o->seen,
              "mark the workloads as seen in training, whatever the checkpoint's config says");
          line.Option("-o,--out", o->out, "folder for evaluation.json and the runs");
          DeclareLog(line, &o->log);
          return [o, &globals] { return Evaluate(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
