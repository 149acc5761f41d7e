#pragma once
// Policies x workloads, in parallel, into an Evaluation and, where asked, run directories and
// episode logs. examples/compare_policies.cc is a whole program.

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
  std::string spec{};                // "": as the id
  std::vector<std::string> files{};  // that it is made from (FilesOfPolicy)

  // As ParseContenders takes it.
  std::string text() const { return spec.empty() ? id : id + "=" + spec; }
};

// "fifo,las:queues=3600,srtf" -> contenders, as the world's profile means them; UsageError for
// unknown names before anything runs. "mine=index:alpha=1" is called "mine" (core/labelled_spec.h),
// which must be no other policy's name. A comma inside a spec's parameters belongs to the spec
// ("index:alpha=1,beta=0,fifo" is two).
std::vector<Contender> ParseContenders(World& world, const std::string& text);

// What a step of an episode log is: a time that the policy was asked, or a decision of the
// environment that the log names, in which the policy's answers are applied as choices.
enum class LogSteps { kPolicy, kEnvironment };
LogSteps LogStepsOf(const std::string& text);  // "policy", "environment"; UsageError for others

struct ExperimentOptions {
  std::string title{};
  TrainingOverlap training_overlap = TrainingOverlap::kNone;
  std::string reference{};  // contender that ratios are taken of; "" = the first
  std::string command{};    // that is kept with the results
  std::string out{};        // "" = keep nothing on disk
  bool bounds = false;      // work out the lower bound on the average JCT of each workload
  bool single_run = false;  // `out` is the folder of the one run, without evaluation.json
  std::string log_root{};   // "" = no HDF5 episode logs; else a Minari datasets folder
  LogSteps log_steps = LogSteps::kPolicy;
  int threads = 0;             // 0: one a core; results do not depend on it
  bool show_progress = false;  // on stderr
  // A run whose policy lets no job progress is kept as one that did not finish; where no run at all
  // finishes, or without this, it is a RunError.
  bool keep_unfinished = false;
  // Takes each finished run, by the places of contender and scenario. One call at a time, from any
  // thread. What it throws ends the experiment.
  std::function<void(std::size_t contender, std::size_t scenario, RunOutcome&& outcome)> on_run{};
};

// The contender that ratios are taken of; UsageError where the options name one that does not run.
std::string ReferenceOf(const std::vector<Contender>& contenders, const ExperimentOptions& options);

// One run of every contender on every scenario. `world` made the scenarios. Errors as ReferenceOf
// and RunPolicy.
Evaluation RunExperiment(World& world, const std::vector<World::Named>& scenarios,
                         const std::vector<Contender>& contenders,
                         const ExperimentOptions& options);

}  // namespace allot
