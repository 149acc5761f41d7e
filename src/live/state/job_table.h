#pragma once
// The jobs of a daemon and their configuration tables. It is the only writer of LiveJob, and builds
// observations from the jobs. Part of LiveState: the journal keeps it over restarts.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/event_finder.h"
#include "cluster/observation.h"
#include "live/state/kept_records.h"
#include "live/state/live_job.h"
#include "live/state/stated_work.h"
#include "perf/catalogue.h"
#include "perf/rate_book.h"
#include "perf/table_cache.h"
#include "perf/training_estimate.h"
#include "rules/gpu_usage.h"
#include "rules/operator_rules.h"
#include "workload/workload.h"

namespace allot {

class JobTable {
 public:
  struct Options {
    const Catalogue* catalogue = &Catalogue::Embedded();
    Seconds restart_cost = 1;        // of a hot resize, as policies get it
    Seconds cold_restart_cost = 10;  // of a restart
    std::size_t keep_ended = 1000;   // jobs that are over and still known
    WorkerGroupOptions worker_group;
    std::shared_ptr<const OperatorRules> rules{};  // null: none
  };
  explicit JobTable(Options options);

  // The machines that tables are made for, when they change.
  void SetCluster(const ClusterSpec& nominal);

  // Null when not known.
  const LiveJob* Find(const std::string& id) const;
  // The id of the unfinished job that has this id, or that its user knows by this name. UsageError
  // when there is none or several.
  std::string IdOf(const std::string& name) const;
  // All that are known, in order of index; indices are never used again.
  const std::map<JobIndex, LiveJob>& jobs() const { return jobs_; }
  // Those that are not over or still have workers, in order of index.
  const std::vector<const LiveJob*>& active() const { return active_; }
  std::int64_t finished() const { return finished_; }  // ever
  Seconds last_submit() const { return last_submit_; }

  // ---- changes by records (LiveState::Apply); times are of the run ----

  const LiveJob& Add(std::shared_ptr<const RuntimeJob> asked, Seconds submit, Seconds deadline);
  // Sets what a decision (or a lost node) gives, and counts changes as the simulator does. `lost`:
  // it is a part of what the job had, so that rules do not pin it. `plan`: how it is split.
  void Give(const LiveJob& of, std::int32_t configuration, std::span<const NodeShare> shares,
            Seconds now, bool lost = false, std::optional<std::string> plan = {});
  // The same size on nodes that the runtime chose, which is no change of the job.
  void Place(const LiveJob& of, std::int32_t configuration, std::span<const NodeShare> shares);
  void Take(const LiveJob& of, Seconds now);
  void SetService(const LiveJob& of, double gpu_seconds, Seconds seconds, Seconds now);
  void End(const LiveJob& of, JobState state, Seconds now, Seconds run_time);
  void Retire(const LiveJob& of);             // no longer active; FindEvents may forget it
  void ForgetRetired(const std::string& id);  // at once, because another job has its name
  // The row of a configuration that the job was given, perhaps under other rules; -1: it cannot
  // have it.
  std::int32_t FindGiven(const LiveJob& of, const std::string& key, GpuCount gpus);
  // The state of a job that an earlier daemon knew. DataError where it cannot have what it had.
  void Resume(const LiveJob& of, const record::Kept& kept, std::span<const NodeShare> shares,
              WorkerGroupPast group);
  // A measured rate into the job's fit. True when its table has changed.
  bool Measure(const LiveJob& of, GpuCount gpus, const std::string& type, Span span, double rate,
               Seconds seconds);
  // For jobs whose batch follows their workers: what their program allows, the noise scale of their
  // gradient, and iterations measured on a number of nodes. Their tables show goodput once times
  // and noise are known. A job begins with what the last one of its user, model and limits
  // measured.
  void SetLimits(const LiveJob& of, const BatchLimits& limits);
  void SetNoise(const LiveJob& of, double noise);
  void Timed(const LiveJob& of, const std::string& gpu_type, std::int32_t nodes,
             const TimingObservation& observation);
  // What jobs measured that are forgotten.
  void LearnRates(const std::string& user, const std::string& model, const record::Fit& fit);
  void LearnTraining(const std::string& key, const record::Training& training);
  void LearnUsage(const record::LearnedUsage& learned, Seconds now);
  void LearnWork(const record::LearnedWork& learned, Seconds now);
  // What the job, which ends, needed, beside what was stated. If it does not finish, only where
  // that is too little already.
  void CountWork(const LiveJob& of, bool finished, Seconds run_time, Seconds now);
  void Count(std::int64_t finished, Seconds last_submit);
  // Times before `end` lie `by` seconds later, and none after `now`: the origin of the run moved.
  void ShiftTimes(Seconds end, Seconds by, Seconds now);

  // ---- changes that the journal need not know ----

  void Follow(const LiveJob& of, std::shared_ptr<const RuntimeJob> asked) {
    LiveJob& job = Mine(of);
    const GpuCount least = std::exchange(job.asked, std::move(asked))->min_gpus;
    if (job.asked->min_gpus != least) MakeTable(job);
  }
  WorkerGroup& WorkersOf(const LiveJob& of) { return Mine(of).worker_group; }
  void SetProgress(const LiveJob& of, const JobProgress& progress) { Mine(of).progress = progress; }
  // Progress since the last call: service, work, and measured rates into the fit. True when the
  // job's table has changed.
  bool Update(const LiveJob& of, const JobProgress& progress, Seconds before, Seconds now);
  void SetChangingSince(const LiveJob& of, std::optional<Seconds> since) {
    Mine(of).changing_since = since;
  }
  void CountFailure(const LiveJob& of) { ++Mine(of).record.failures; }  // a node went down
  void SetPin(const LiveJob& of, const Pin& pin) { Mine(of).pin = pin; }
  void SetBeyond(const LiveJob& of, std::optional<std::string> limit) {
    Mine(of).beyond = std::move(limit);
  }
  void SetExplained(const LiveJob& of, std::optional<std::string> trouble) {
    Mine(of).explained = std::move(trouble);
  }
  // The operator's rules from now on; null: none. Jobs keep sizes that they have, as when a daemon
  // starts with other rules.
  void SetRules(std::shared_ptr<const OperatorRules> rules);
  // The job's table has no larger sizes from now on, except what it has; unset: no limit.
  void SetMost(const LiveJob& of, std::optional<GpuCount> most);

  // ---- for decisions ----

  // The job's shares on `usable` GPUs, reduced to the largest number that forms a configuration.
  std::vector<NodeShare> SharesOn(const LiveJob& job, const HeldGpus& usable) const;

  // Run time on the requested GPUs: work done divided by the measured rate, or GPU-seconds divided
  // by these GPUs if the program reports no work.
  Seconds RunTime(const LiveJob& job) const;
  // The profile of the catalogue that a model begins with; "": the prior.
  std::string ProfileOf(const std::string& model) const;
  // Throughput of a job's model as last measured for its user; its prior where it never was.
  ModelPtr ModelOf(const LiveJob& job) const {
    return rates_.Begin(job.asked->model, job.asked->user).Model();
  }

  // One row for each active job that is observed, in order of index.
  void Observe(Observation* observation) const;
  // False for jobs that are over, and for jobs that never fitted the cluster.
  static bool IsObserved(const LiveJob& job) { return !job.over && job.table != nullptr; }
  // What happened since the last call, into an observation of Observe: once a decision. The facts
  // of jobs that ended are exact. Then the oldest of the jobs that ended are forgotten, so that
  // keep_ended are left.
  void FindEvents(Observation* observation);

  // What was learned of jobs that may be forgotten, and jobs to come begin with.
  const RateBook& rates() const { return rates_; }
  const std::map<std::string, TrainingEstimate>& latest_training() const {
    return latest_training_;
  }
  // Decayed GPU time by account and user, for fair shares, and their names.
  const GpuUsage& usage() const { return usage_; }
  record::LearnedUsage UsageOf(Submitter submitter, Seconds now) const;
  // What users' jobs needed, by what was stated of their work, and the times of these sums.
  std::vector<std::pair<Seconds, record::LearnedWork>> StatedWorkOfUsers() const;
  const ClusterSpec& nominal() const { return nominal_; }

 private:
  LiveJob& Mine(const LiveJob& job) { return jobs_.at(job.index); }
  void SetAttained(LiveJob& job, double gpu_seconds, Seconds now);
  std::optional<StatedWork::Sums> WorkOf(const LiveJob& job, Seconds run_time) const;
  Submitter SubmitterOf(const std::string& account, const std::string& user);
  RateFit FitOf(const record::Fit& points, const std::string& model) const;
  JobRules RulesOf(const RuntimeJob& asked) const;
  SizeRule SizesOf(const LiveJob& job) const;
  void MakeTable(LiveJob& job);
  bool MakeGoodputTable(LiveJob& job, const Workload& one, const Job& spec);
  void KeepRunning(LiveJob& job, const std::shared_ptr<const ConfigurationTable>& before,
                   std::int32_t requested_before);
  void Remember(LiveJob& job);
  static void TellEnd(const LiveJob& job, EndedJob* ended);
  void ForgetOldest();

  Options options_;
  RateBook rates_;
  std::map<std::string, TrainingEstimate> latest_training_;  // by user, model and limits
  ClusterSpec nominal_;
  std::unique_ptr<TableCache> tables_;  // of jobs that were not measured
  std::map<JobIndex, LiveJob> jobs_;
  JobIndex next_index_ = 0;
  std::vector<const LiveJob*> active_;
  std::deque<JobIndex> ended_;  // that are known and have no workers, as they were retired
  std::int64_t finished_ = 0;
  std::map<std::string, const LiveJob*> by_id_;
  std::map<std::string, std::int32_t> tenants_;
  NameTable accounts_;
  NameTable users_;
  NameTable groups_;
  GpuUsage usage_;
  StatedWork stated_work_;
  EventFinder finder_;
  Seconds last_submit_ = 0;
};

}  // namespace allot
