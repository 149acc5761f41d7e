#pragma once
// Runs policies on workloads in parallel and returns an Evaluation; on request it also writes run
// folders and episode logs. examples/compare_policies.cc is a complete program.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiment/world.h"
#include "metrics/evaluation.h"
#include "sched/policy.h"

namespace allot {

struct RunOutcome;  // sim/run.h

struct Contender {
  std::string id;  // row and folder name: its label, else its spec
  std::function<std::unique_ptr<Policy>()> make;
  std::string spec{};                // "" stands for the id
  std::vector<std::string> files{};  // files that it is made from (FilesOfPolicy)

  // The text that ParseContenders takes.
  std::string text() const { return spec.empty() ? id : id + "=" + spec; }
};

// Parses contenders such as "fifo,las:queues=3600,srtf" in the world's profile; UsageError for
// unknown names before anything runs. "mine=index:alpha=1" has the label "mine"
// (core/labelled_spec.h), which must not be the name of another policy. A comma inside a spec's
// parameters belongs to the spec ("index:alpha=1,beta=0,fifo" has two contenders).
std::vector<Contender> ParseContenders(World& world, const std::string& text);

// The steps of an episode log: calls of the policy, or decisions of the environment that the log
// names, in which the policy's answers are applied as choices.
enum class LogSteps { kPolicy, kEnvironment };
LogSteps LogStepsOf(const std::string& text);  // "policy", "environment"; UsageError for others

struct ExperimentOptions {
  std::string title{};
  TrainingOverlap training_overlap = TrainingOverlap::kNone;
  std::string reference{};  // the denominator of ratios; "" stands for the first contender
  std::string command{};    // stored with the results
  std::string out{};        // folder; "" writes nothing
  bool bounds = false;      // compute the lower bound on the average JCT of each workload
  bool single_run = false;  // `out` is the folder of the one run, without evaluation.json
  std::string log_root{};   // Minari datasets folder for HDF5 episode logs; "" writes none
  LogSteps log_steps = LogSteps::kPolicy;
  int threads = 0;             // 0: one per core; results do not depend on it
  bool show_progress = false;  // on stderr
  // True: a run whose policy lets no job progress counts as unfinished. It is a RunError otherwise,
  // and if no run finishes.
  bool keep_unfinished = false;
  // Called for each finished run with the indices of contender and scenario; one call at a time,
  // from any thread. An exception ends the experiment.
  std::function<void(std::size_t contender, std::size_t scenario, RunOutcome&& outcome)> on_run{};
};

// The reference contender; UsageError if the options name one that does not run.
std::string ReferenceOf(const std::vector<Contender>& contenders, const ExperimentOptions& options);

// Runs every contender on every scenario of `world`. Throws the errors of ReferenceOf and
// RunPolicy.
Evaluation RunExperiment(World& world, const std::vector<World::Named>& scenarios,
                         const std::vector<Contender>& contenders,
                         const ExperimentOptions& options);

}  // namespace allot
