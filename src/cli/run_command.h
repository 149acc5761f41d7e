#pragma once
// What the commands that run experiments share: options, notes before and the table after.

#include "cli/command.h"
#include "experiment/experiment.h"

namespace allot {

// Where and how episode logs are written.
struct LogOptions {
  std::string root;
  std::string steps = "policy";

  void Set(ExperimentOptions* experiment) const;
};
void DeclareLog(CommandLine& line, LogOptions* options);

// The typed command, threads and progress, as in every command.
ExperimentOptions OptionsOf(const GlobalOptions& globals);

// RunExperiment; before it prints notes on the workload to stderr, unless with --quiet.
Evaluation RunWithNotes(World& world, const std::vector<World::Named>& scenarios,
                        const std::vector<Contender>& contenders, const ExperimentOptions& options,
                        const GlobalOptions& globals);

// Prints the table to stdout (or the evaluation as JSON), and the written files to stderr. Returns
// the exit code: 1 if a run did not finish, which is reported.
int PrintEvaluation(const Evaluation& evaluation, const ExperimentOptions& options,
                    const GlobalOptions& globals);

}  // namespace allot
