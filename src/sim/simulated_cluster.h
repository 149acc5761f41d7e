#pragma once
// A cluster that exists only in memory: jobs of a Scenario arrive, progress at the rate of their
// configuration, lose `restart_cost` at every change after the first launch, and end exactly when
// their work is done (or, by option, at the end of that interval); GPUs that come free are handed
// out at the next decision.
//
// What only some worlds have is a part with its own state: nodes that come and go, rates that are
// not known or not constant, training in steps, whole rounds. The table of jobs
// (sim/simulated_jobs.h) is common to all parts.
//
// Deterministic. One object is one episode; not thread-safe, but any number may share a Scenario.
// A decision costs O(running jobs), one that changes who holds what also a copy of the shares, and
// for all unfinished jobs the sums of StepFacts; times without unfinished jobs are skipped.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/allocation_changes.h"
#include "cluster/incremental_cluster.h"
#include "cluster/job_record.h"
#include "sched/rates_read.h"
#include "sched/time_shares.h"
#include "sim/changing_nodes.h"
#include "sim/decision_times.h"
#include "sim/failed_starts.h"
#include "sim/holdings.h"
#include "sim/job_walks.h"
#include "sim/lost_time.h"
#include "sim/network_load.h"
#include "sim/scenario.h"
#include "sim/shown_rates.h"
#include "sim/simulated_jobs.h"
#include "sim/starvation_check.h"
#include "sim/step_facts.h"
#include "sim/stepped_training.h"
#include "sim/timeline.h"
#include "sim/whole_rounds.h"

namespace allot {

class SimulatedCluster : public ClusterPort, public IncrementalCluster {
 public:
  explicit SimulatedCluster(const Scenario& scenario);
  // In mid-run: row i of `start` says how far job i is, what it has received and where it runs. The
  // scenario's other jobs come later, it has no node events. Restarts are taken to be over.
  SimulatedCluster(const Scenario& scenario, const Observation& start);

  const Observation& Observe() const override { return jobs_.observation; }
  Status Validate(const Allocation& allocation) const override;
  ApplyReport Apply(const Allocation& allocation) override;
  bool WaitForChange(Seconds valid_until) override;
  IncrementalCluster* incremental() override { return this; }
  ApplyReport ApplyChanges(const AllocationChanges& changes) override;
  bool PromiseMatters() const override;
  // In the place of Apply, without a mechanism (sim/ideal_run.h): jobs progress at the sum of their
  // shares' rates until the next event and hold no GPUs. Refused as ValidateShares says.
  ApplyReport ApplyShares(std::span<const TimeShare> shares);

  const Scenario& scenario() const { return scenario_; }
  const StepFacts& last_step() const { return step_; }
  // Where decisions fall on events: one falls on this time, too, if a job is unfinished then.
  void DecideAt(Seconds time) { decide_at_ = time; }
  // From now on an answer stays valid for at least this part of the time since now, unless
  // something happens, whatever was promised: decisions every few seconds matter little a day
  // ahead.
  void Throttle(double part) { throttle_ = {jobs_.observation.now, part}; }
  // From now on job_seconds, slowdown_seconds and progress of steps stay 0.
  void LeaveOutSums() { sums_ = false; }
  // Limits the rates that tables show to those that the policy reads. Matters for stepped training
  // only; call it before the first answer.
  void ShowRates(RatesRead rates);
  const std::vector<JobRecord>& records() const { return jobs_.records; }  // by job index
  const std::vector<TimelinePoint>& timeline() const { return timeline_.points(); }
  // Moves the records out after the run has ended; the cluster then has none.
  std::vector<JobRecord> TakeRecords() { return std::move(jobs_.records); }
  std::vector<TimelinePoint> TakeTimeline() { return timeline_.Take(); }
  Seconds last_decision() const { return last_decision_; }  // -1: there was none
  // By GPU, nodes in order: how long it worked. Of whole rounds only, else empty.
  std::vector<Seconds> busy_seconds() const {
    return rounds_ ? rounds_->busy_seconds() : std::vector<Seconds>();
  }

  // GPU time that jobs held without getting on; none where Scenario::loses_gpu_time() is false.
  std::optional<LostGpuSeconds> lost() const {
    return lost_ ? std::optional(lost_->lost()) : std::nullopt;
  }
  // Null: no start of a job fails.
  const FailedStarts* failed_starts() const { return starts_ ? &*starts_ : nullptr; }

 private:
  // Time passes: progress, completions, then arrivals.
  void AdvanceTo(Seconds time);  // through the events of nodes
  void PassTo(Seconds time);     // between two of them, through ends that change other rates
  void PassPart(Seconds time);   // between two of these
  void PassEmpty(Seconds time);  // without jobs, while the cluster is scaled
  void PassRound();
  void PassSteps(Seconds valid_until);
  void Admit(Seconds until);  // arrivals with submit <= until become rows
  void NoteCompletions();     // before the rows that ended go
  void RemoveEndedRows();
  double DoneAfter(std::size_t slot, Seconds worked) const;

  // When something happens.
  Seconds NextJobEvent() const;  // next arrival, completion or measurement
  Seconds NextEvent() const;     // the same, or of a node or start while jobs are unfinished
  Seconds NextChange() const;    // of a node, or a start that fails

  // Nodes come and go.
  void Scale();                        // at an interval, before its decision
  void LendNodes(std::int32_t nodes);  // so many, from now on
  void ShowLent();
  void StopJobsOn(NodeIndex node, NodeEventReason reason, Seconds notice);
  void FollowStarts();  // that fail by now, and nodes that do not
  void GiveUp(std::span<const JobIndex> jobs);
  RunningJob GoOnWithout(NodeIndex node, std::size_t row, std::int32_t configuration);
  void LoseSinceCheckpoint(std::size_t slot, const Checkpoints& written);

  // Answers take effect.
  // Makes the changes that holdings_ has found and taken, whose entries are of `given`.
  ApplyReport MakeChanges(const Allocation& given);
  void MoveShares(const Allocation& given, ApplyReport* report);
  // `before`: null: it held nothing; `same_shape`: as many GPUs on each node of the same type.
  RunningJob Give(const Allocation::Entry& entry, std::size_t row,
                  std::span<const NodeShare> shares, const RunningJob* before, bool same_shape,
                  ApplyReport* report);
  RunningJob RunFrom(std::size_t row, std::size_t nodes, Seconds ready);
  void BeginWalks();  // of jobs with a process that were given something
  void Stop(std::size_t row);
  // The row's job runs in the configuration (-1: not) from now on. Returns the seconds of progress
  // that this costs, and shows those that a restart in the same configuration would cost.
  Seconds ChangeTo(std::int32_t configuration, std::size_t row);
  TimelinePoint PointNow(double gpus_used) const;

  const Scenario& scenario_;
  const DecisionTimes times_;
  ChangingNodes nodes_;
  SimulatedJobs jobs_;
  Holdings holdings_;
  JobWalks walks_;
  std::optional<NetworkLoad> network_;  // none: no rate depends on a place
  std::optional<ShownRates> rates_;     // none: policies see the true tables
  std::optional<SteppedTraining> training_;
  std::optional<WholeRounds> rounds_;
  std::optional<LostTime> lost_;
  std::optional<FailedStarts> starts_;
  StarvationCheck starvation_;
  Timeline timeline_;
  StepFacts step_;
  bool sums_ = true;
  std::vector<double> inverse_duration_;  // by job, of those that have arrived
  Seconds last_decision_ = -1;
  Seconds last_event_ = 0;  // when a job last arrived or ended, or a node came or went
  Seconds decide_at_ = kNever;
  struct Throttling {
    Seconds since = 0;
    double part = 0;
  } throttle_;
  std::int64_t applied_decision_ = -1;
  // Kept to avoid allocation per decision:
  std::vector<Timeline::Completion> completions_;
  std::vector<std::int32_t> ended_rows_;
  std::vector<std::size_t> ended_slots_;  // of these
  AllocationChanges stops_;
  std::vector<std::int32_t> new_running_rows_;
  std::vector<RunningJob> new_running_;
  std::vector<NodeShare> new_shares_;
  std::vector<std::int32_t> new_share_begin_;
};

}  // namespace allot
