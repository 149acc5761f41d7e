#include "cli/run_command.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/typed_command.h"
#include "core/json_text.h"
#include "metrics/evaluation_text.h"

namespace allot {

void LogOptions::Set(ExperimentOptions* experiment) const {
  experiment->log_root = root;
  experiment->log_steps = LogStepsOf(steps);
}

void DeclareLog(CommandLine& line, LogOptions* options) {
  line.Option("--log", options->root, "Minari datasets folder for HDF5 episode logs");
  line.Option(
          "--log-steps", options->steps,
          "a step of the log is a time that the policy was asked (policy), or a decision of the "
          "environment that the log names, its answers being applied as choices (environment)")
      .ShowDefault();
}

ExperimentOptions OptionsOf(const GlobalOptions& globals) {
  ExperimentOptions options;
  options.command = TypedCommand();
  options.threads = globals.threads;
  options.show_progress = !globals.quiet;
  options.keep_unfinished = true;
  return options;
}

Evaluation RunWithNotes(World& world, const std::vector<World::Named>& scenarios,
                        const std::vector<Contender>& contenders, const ExperimentOptions& options,
                        const GlobalOptions& globals) {
  ReferenceOf(contenders, options);  // throws before any note is printed
  if (!globals.quiet) {
    std::fputs((world.ReadNote() + world.OverloadHint(scenarios) + world.ManyEventsHint(scenarios) +
                world.UselessOptionsHint(scenarios))
                   .c_str(),
               stderr);
  }
  return RunExperiment(world, scenarios, contenders, options);
}

namespace {

// The exit code; prints a line to stderr if runs did not finish.
int TellUnfinished(const Evaluation& evaluation) {
  std::size_t stuck = 0;
  for (const EvaluatedPolicy& policy : evaluation.policies) {
    for (const RunSummary& run : policy.runs) stuck += run.did_not_finish.has_value();
  }
  if (stuck == 0) return 0;
  std::fflush(stdout);
  std::fprintf(stderr, "allot: %zu of %zu runs did not finish\n", stuck,
               evaluation.policies.size() * evaluation.workloads.size());
  return static_cast<int>(ExitCode::kRunFailed);
}

}  // namespace

int PrintEvaluation(const Evaluation& evaluation, const ExperimentOptions& options,
                    const GlobalOptions& globals) {
  if (globals.json) {
    std::printf("%s\n", JsonText(ToJson(evaluation)).c_str());
  } else {
    std::printf("%s", EvaluationText(evaluation).c_str());
  }
  const int code = TellUnfinished(evaluation);
  if (globals.quiet) return code;
  if (!options.out.empty()) std::fprintf(stderr, "results: %s\n", options.out.c_str());
  if (!options.log_root.empty()) {
    std::fprintf(stderr, "episode logs: %s\n", options.log_root.c_str());
  }
  return code;
}

}  // namespace allot
