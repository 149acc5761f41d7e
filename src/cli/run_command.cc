#include "cli/run_command.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/typed_command.h"
#include "core/json_text.h"
#include "metrics/evaluation_text.h"

namespace allot {

ExperimentOptions OptionsOf(const GlobalOptions& globals) {
  ExperimentOptions options;
  options.command = TypedCommand();
  options.threads = globals.threads;
  options.show_progress = !globals.quiet;
  return options;
}

Evaluation RunWithNotes(World& world, const std::vector<World::Named>& scenarios,
                        const std::vector<Contender>& contenders, const ExperimentOptions& options,
                        const GlobalOptions& globals) {
  ReferenceOf(contenders, options);  // a fault is told alone
  if (!globals.quiet) {
    std::fputs((world.ReadNote() + world.OverloadHint(scenarios)).c_str(), stderr);
  }
  return RunExperiment(world, scenarios, contenders, options);
}

void PrintEvaluation(const Evaluation& evaluation, const ExperimentOptions& options,
                     const GlobalOptions& globals) {
  if (globals.json) {
    std::printf("%s\n", JsonText(ToJson(evaluation)).c_str());
  } else {
    std::printf("%s", EvaluationText(evaluation).c_str());
  }
  if (globals.quiet) return;
  if (!options.out.empty()) std::fprintf(stderr, "results: %s\n", options.out.c_str());
  if (!options.log_root.empty()) {
    std::fprintf(stderr, "episode logs: %s\n", options.log_root.c_str());
  }
}

}  // namespace allot
