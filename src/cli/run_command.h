#pragma once
// What the commands that run experiments say and print: notes before, the table after.

#include "cli/command.h"
#include "experiment/experiment.h"

namespace allot {

// The typed command, threads and progress, as every command takes them.
ExperimentOptions OptionsOf(const GlobalOptions& globals);

// RunExperiment, with notes on the workload on stderr before it unless the user wants it quiet.
Evaluation RunWithNotes(World& world, const std::vector<World::Named>& scenarios,
                        const std::vector<Contender>& contenders, const ExperimentOptions& options,
                        const GlobalOptions& globals);

// Table on stdout (or the evaluation as JSON) and what was written on stderr.
void PrintEvaluation(const Evaluation& evaluation, const ExperimentOptions& options,
                     const GlobalOptions& globals);

}  // namespace allot
