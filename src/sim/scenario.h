#pragma once
// A workload made ready for a cluster: what does not depend on the policy, worked out once and
// shared by all runs (threads included). Immutable after construction.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/cluster_spec.h"
#include "perf/application_model.h"
#include "perf/catalogue.h"
#include "perf/configuration.h"
#include "perf/placed_model.h"
#include "sim/checkpoint_rule.h"
#include "sim/job_process.h"
#include "sim/lending.h"
#include "sim/sim_options.h"
#include "sim/start_plan.h"
#include "workload/workload.h"

namespace allot {

// A job whose exact end is a scheduled instant ends there, whatever the rounding: in intervals.
inline constexpr double kBoundarySlack = 1e-9;

class Scenario {
 public:
  // Of a job whose rate is not always that of its table.
  struct Variation {
    const JobProcess* process = nullptr;
    const ApplicationModel* application = nullptr;
    const PlacedModel* placed = nullptr;

    bool operator==(const Variation&) const = default;
  };

  // Millions of them are held at once.
  struct JobFacts {
    std::shared_ptr<const ConfigurationTable> table;
    std::int32_t requested = 0;  // configuration as submitted, on the fastest type that holds it
    double work = 0;             // true work
    double estimate = 0;         // what policies get (NaN: nothing)
    const Variation* variation = nullptr;  // of the scenario that made it; few jobs have one

    // Null: the table's rates, always.
    const JobProcess* process() const {
      return variation == nullptr ? nullptr : variation->process;
    }
    // Null: wherever it runs, it is as fast.
    const PlacedModel* placed() const { return variation == nullptr ? nullptr : variation->placed; }
    // Null: it trains none.
    const ApplicationModel* application() const {
      return variation == nullptr ? nullptr : variation->application;
    }
  };

  // DataError for an empty workload or a job that fits on no GPU type of the cluster. `estimates`:
  // JobFacts::estimate, one a job, where known already; else `options.lengths` makes them. Jobs
  // whose model varies() progress as the model says (sim/model_process.h), all others as their
  // table does, and either as `options.progress` changes it. Jobs without a model keep the size
  // that they ask for.
  Scenario(Workload workload, ClusterSpec cluster, SimOptions options,
           const Catalogue& catalogue = Catalogue::Embedded(),
           std::span<const double> estimates = {});

  // With facts made elsewhere, one a job, from this catalogue if the scenario is to be logged.
  Scenario(Workload workload, ClusterSpec cluster, SimOptions options, std::vector<JobFacts> facts,
           const Catalogue& catalogue = Catalogue());

  const Workload& workload() const { return workload_; }
  const ClusterSpec& cluster() const { return cluster_; }
  const SimOptions& options() const { return options_; }

  // Known and random ones together, ascending by time.
  const std::vector<NodeEvent>& node_events() const { return node_events_; }

  // What services lend; null: all nodes are the jobs' own.
  const Lending* lending() const { return lending_.get(); }
  std::optional<LendingFigures> lending_figures() const {
    return lending_ == nullptr ? std::nullopt : std::optional(lending_->figures());
  }

  // Which starts of jobs fail; null: none.
  const StartPlan* start_plan() const { return start_plan_.get(); }

  // What a job on so many nodes writes.
  Checkpoints CheckpointsOn(std::size_t nodes) const {
    return checkpoint_rule_->Of(static_cast<std::int32_t>(nodes), failure_rate_);
  }
  // Whether GPU time is lost by more than changes of allocation.
  bool loses_gpu_time() const;

  const JobFacts& facts(JobIndex job) const { return facts_[static_cast<std::size_t>(job)]; }

  // Jobs whose trace allows other sizes (min_gpus, max_gpus), but names no model: how fast they are
  // there is unknown, so they keep the size that they ask for.
  std::int64_t fixed_sizes() const { return fixed_sizes_; }

  // Of the operator, for this job.
  const JobRules& RulesOf(JobIndex job) const {
    return job_rules_.empty() ? kNoRules : job_rules_[static_cast<std::size_t>(job)];
  }
  // Whether a rule may hold a job as it is, take from one, or keep it from nodes, whatever policies
  // say.
  bool has_binding_rules() const { return has_binding_rules_; }

  // Seconds of progress that a change of the job's allocation costs.
  Seconds RestartCostOf(JobIndex job) const {
    const JobFacts& of_job = facts(job);
    return options_.training.own_restart && of_job.application() != nullptr
               ? of_job.application()->application()->types().front().restart
               : options_.restart_cost;
  }

  // What writing and reading its state adds, from a configuration (-1: none) to another.
  Seconds StateSecondsOf(JobIndex job, std::int32_t from, std::int32_t to) const {
    const ConfigurationTable& table = *facts(job).table;
    return (from < 0 ? 0 : table[from].state_seconds) + table[to].state_seconds;
  }

  // Whether the job trains an application that is played in steps (TrainingRules::stepped).
  bool TrainsInSteps(JobIndex job) const {
    return options_.training.stepped && facts(job).application() != nullptr;
  }

  // Whether some job's rate depends on its place in the network, or on which GPUs it has.
  bool has_placed_jobs() const { return has_placed_jobs_; }

  // Whether some job has a process: its rate changes while it runs.
  bool has_processes() const { return has_processes_; }

  // Of the catalogue that the jobs' models come from, which need not live on: its id, or for a
  // user's own the text.
  const std::string& catalogue_id() const { return catalogue_id_; }
  const std::string& profiles_csv() const { return profiles_csv_; }

  // True if policies get the true length of every job.
  bool tells_true_lengths() const;

 private:
  void FindRules();
  bool HasFairShares() const;
  void CheckRules() const;
  void PlanNodeEvents();
  void PlanLending(Seconds horizon);
  void CheckStarts() const;
  void CheckRounds() const;
  void CheckTraining() const;
  void CheckAutoscale() const;
  void FindProcesses();
  // The object, which lives as long as the scenario from now on.
  template <typename T>
  const T* Keep(std::shared_ptr<const T> object) {
    const T* const pointer = object.get();
    if (object != nullptr && (kept_.empty() || kept_.back() != object)) {
      kept_.push_back(std::move(object));
    }
    return pointer;
  }

  // Null where the job has none; of jobs that share one, the same object.
  const Variation* KeepVariation(const Variation& of_job);

  Workload workload_;
  ClusterSpec cluster_;
  SimOptions options_;
  std::string catalogue_id_;
  std::string profiles_csv_;
  std::vector<JobFacts> facts_;
  std::vector<std::shared_ptr<const void>> kept_;  // what facts_ point to
  std::vector<NodeEvent> node_events_;
  std::shared_ptr<const CheckpointRule> checkpoint_rule_;
  double failure_rate_ = 0;  // FaultLaw::rate(), where nodes go down
  std::shared_ptr<const StartPlan> start_plan_;
  std::shared_ptr<const Lending> lending_;
  bool has_processes_ = false;
  bool has_placed_jobs_ = false;
  std::int64_t fixed_sizes_ = 0;
  static inline const JobRules kNoRules;
  std::vector<JobRules> job_rules_;  // by job; empty: the operator has none
  bool has_binding_rules_ = false;
};

}  // namespace allot
