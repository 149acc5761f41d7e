#pragma once
// All that a daemon knows of its jobs: what the user asked for, what the last decision gave, how
// far each job is and how fast it was. The observation is built from it. Part of LiveState, so the
// journal keeps it over restarts.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/event_finder.h"
#include "cluster/observation.h"
#include "cluster/operator_rules.h"
#include "live/state/journal.h"
#include "live/state/live_job.h"
#include "perf/catalogue.h"
#include "perf/rate_book.h"
#include "perf/table_cache.h"
#include "perf/training_estimate.h"
#include "workload/workload.h"

namespace allot {

class JobTable {
 public:
  struct Options {
    const Catalogue* catalogue = &Catalogue::Embedded();
    Seconds restart_cost = 1;        // of a hot resize, as policies are told
    Seconds cold_restart_cost = 10;  // of a restart
    std::size_t keep_ended = 1000;   // jobs that are over and still known
    WorkerGroupOptions worker_group;
    std::shared_ptr<const OperatorRules> rules{};  // null: none
  };
  explicit JobTable(Options options);

  // The machines that tables are made for, when they change.
  void SetCluster(const ClusterSpec& nominal);

  // Null when not known.
  LiveJob* Find(const std::string& id);
  // Of the job that waits or runs and whose user means it: by its id, or by what it is known as.
  // UsageError when there is none, or when several are known so.
  std::string IdOf(const std::string& name) const;
  // Times are of the run.
  LiveJob& Add(std::shared_ptr<const RuntimeJob> asked, Seconds submit, Seconds deadline);
  // In order of index: those that are known, and of these those that are not over or still have
  // workers. Indices are never used again.
  const std::map<JobIndex, std::unique_ptr<LiveJob>>& jobs() const { return jobs_; }
  const std::vector<LiveJob*>& active() const { return active_; }
  void Retire(LiveJob& job);  // no longer active; keeps its record until FindEvents forgets it
  void ForgetRetired(const std::string& id);           // at once, as another one has its name
  std::int64_t finished() const { return finished_; }  // ever

  // Sets what a decision (or a lost node) gives; counts changes, as the simulator does.
  void Give(LiveJob& job, std::int32_t configuration, std::span<const NodeShare> shares,
            Seconds now);
  void Take(LiveJob& job, Seconds now);    // gives nothing: preempted
  void End(LiveJob& job, Seconds finish);  // is over; kNever: not because it finished
  // The same size and a place that the runtime chose: no change of the job's.
  void Place(LiveJob& job, std::int32_t configuration, std::span<const NodeShare> shares);
  // The index of a configuration that it was given, perhaps under other rules. -1: it can have
  // none.
  std::int32_t FindGiven(LiveJob& job, const std::string& key, GpuCount gpus);
  // What a job held that an earlier daemon knew; its training is set before. `configuration`: text
  // of its key, "" where it held nothing. DataError where it can have no such configuration.
  void Resume(LiveJob& job, RateFit fit, const std::string& configuration,
              std::span<const NodeShare> shares);
  // Of its shares those among these GPUs, or as many of them as make a configuration.
  std::vector<NodeShare> SharesOn(const LiveJob& job, const HeldGpus& usable) const;

  // Its table has no larger sizes from now on, except what it has; unset: no limit.
  void SetMost(LiveJob& job, std::optional<GpuCount> most) {
    if (most >= job.asked->max_gpus) most.reset();
    if (std::exchange(job.most, most) != most) MakeTable(job);
  }

  // A measured rate into the job's fit. True when its table has changed.
  bool Measure(LiveJob& job, GpuCount gpus, const std::string& type, Span span, double rate,
               Seconds seconds);

  // Of jobs whose batch follows their workers: what their program allows, the noise scale of their
  // gradient, and iterations as measured on so many nodes. Their tables are of their goodput once
  // times and noise are known. A job begins with what the last one of its user, model and limits
  // measured.
  void SetLimits(LiveJob& job, const BatchLimits& limits);
  void SetNoise(LiveJob& job, double noise);
  void Timed(LiveJob& job, const std::string& gpu_type, std::int32_t nodes,
             const TimingObservation& observation);

  // Progress since the last call: service, work, and measured rates into the fit. True when the
  // job's table has changed.
  bool Update(LiveJob& job, const JobProgress& progress, Seconds before, Seconds now);

  // What the job's work takes at the GPUs it asks for: work done by the measured rate there, or its
  // GPU-seconds by that number where the program tells no work.
  Seconds RunTime(const LiveJob& job) const;
  // The profile of the catalogue that a model begins with; "": the prior.
  std::string ProfileOf(const std::string& model) const;
  // Throughput of a job's model as last measured for its user; its prior where it never was.
  ModelPtr ModelOf(const LiveJob& job) const {
    return rates_.Begin(job.asked->model, job.asked->user).Model();
  }

  // One row for each job that a policy may place; `hidden` says which not.
  void Observe(const std::function<bool(const LiveJob&)>& hidden, Observation* observation) const;
  // What happened since the last call, into an observation of Observe: once a decision. The facts
  // of jobs that ended are exact. A pinned job that was hidden ends like any other. Then the oldest
  // of the jobs that ended are forgotten, so that keep_ended are left.
  void FindEvents(Observation* observation);

  // What was learned of jobs that may be forgotten, and jobs to come begin with.
  const RateBook& rates() const { return rates_; }
  const std::map<std::string, TrainingEstimate>& latest_training() const {
    return latest_training_;
  }
  void LearnRates(const std::string& user, const std::string& model, RateFit fit) {
    rates_.Learn(model, user, std::move(fit));
  }
  void LearnTraining(const std::string& of, TrainingEstimate estimate) {
    latest_training_.insert_or_assign(of, std::move(estimate));
  }
  Seconds last_submit() const { return last_submit_; }
  // Of jobs that are forgotten.
  void Count(std::int64_t finished, Seconds last_submit);

  const ClusterSpec& nominal() const { return nominal_; }

 private:
  SizeRule SizesOf(const LiveJob& job) const;
  void MakeTable(LiveJob& job);
  bool MakeGoodputTable(LiveJob& job, const Workload& one, const Job& spec);
  void Follow(LiveJob& job, const std::shared_ptr<const ConfigurationTable>& before,
              std::int32_t requested_before);
  void Remember(LiveJob& job);
  void TellEnd(EndedJob* ended) const;
  void ForgetOldest();

  Options options_;
  RateBook rates_;
  std::map<std::string, TrainingEstimate> latest_training_;  // by user, model and limits
  ClusterSpec nominal_;
  std::unique_ptr<TableCache> tables_;  // of jobs that were not measured
  std::map<JobIndex, std::unique_ptr<LiveJob>> jobs_;
  JobIndex next_index_ = 0;
  std::vector<LiveJob*> active_;
  std::deque<JobIndex> ended_;  // that are known and have no workers, as they were retired
  std::int64_t finished_ = 0;
  std::map<std::string, LiveJob*> by_id_;
  std::map<std::string, std::int32_t> tenants_;
  NameTable users_;
  NameTable groups_;
  EventFinder finder_;
  std::map<JobIndex, EndedJob> fixed_;  // that were shown once: their end is still to be told
  Seconds last_submit_ = 0;
};

}  // namespace allot
