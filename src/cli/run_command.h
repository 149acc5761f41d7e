#pragma once
// What the commands that run experiments say and print: notes before, the table after.

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

// The typed command, threads and progress, as every command takes them.
ExperimentOptions OptionsOf(const GlobalOptions& globals);

// RunExperiment, with notes on the workload on stderr before it unless the user wants it quiet.
Evaluation RunWithNotes(World& world, const std::vector<World::Named>& scenarios,
                        const std::vector<Contender>& contenders, const ExperimentOptions& options,
                        const GlobalOptions& globals);

// Table on stdout (or the evaluation as JSON) and what was written on stderr. The exit code: 1
// where a run did not finish, which is said, too.
int PrintEvaluation(const Evaluation& evaluation, const ExperimentOptions& options,
                    const GlobalOptions& globals);

}  // namespace allot
