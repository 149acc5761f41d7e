#pragma once
// A cluster that exists only in memory: jobs of a Scenario arrive, progress at the rate of their
// configuration, lose `restart_cost` at every change after the first launch, and end exactly when
// their work is done (or, by option, at the end of that interval); GPUs that come free are handed
// out at the next decision.
//
// Deterministic. One object is one episode; not thread-safe, but any number may share a Scenario.
// A decision costs O(running jobs), one that changes who holds what also a copy of the shares, and
// for all unfinished jobs the sums of StepFacts; times without unfinished jobs are skipped.

#include <cstdint>
#include <memory>
#include <vector>

#include "cluster/incremental_cluster.h"
#include "cluster/job_record.h"
#include "sched/rates_read.h"
#include "sched/time_shares.h"
#include "sim/autoscaler.h"
#include "sim/belief.h"
#include "sim/holdings.h"
#include "sim/scenario.h"
#include "sim/simulated_rules.h"
#include "sim/step_facts.h"
#include "sim/training_run.h"

namespace allot {

class SimulatedCluster : public ClusterPort, public IncrementalCluster {
 public:
  explicit SimulatedCluster(const Scenario& scenario);
  // In mid-run: row i of `start` says how far job i is, what it has received and where it runs. The
  // scenario's other jobs come later, it has no node events. Restarts are taken to be over.
  SimulatedCluster(const Scenario& scenario, const Observation& start);
  SimulatedCluster(const SimulatedCluster&) = delete;  // holdings_ points into observation_
  SimulatedCluster& operator=(const SimulatedCluster&) = delete;

  // Without jobs that a rule of the operator holds, and their GPUs (sim/simulated_rules.h).
  const Observation& Observe() const override { return rules_ ? rules_->shown() : observation_; }
  Status Validate(const Allocation& allocation) const override;
  ApplyReport Apply(const Allocation& allocation) override;
  bool WaitForChange(Seconds holds_until) override;
  IncrementalCluster* incremental() override { return rules_ == nullptr ? this : nullptr; }
  ApplyReport ApplyChanges(const AllocationChanges& changes) override;
  bool PromiseMatters() const override;
  // In the place of Apply, without a mechanism (sim/ideal_run.h): jobs progress at the sum of their
  // shares' rates until the next event and hold no GPUs. Refused as ValidateShares says.
  ApplyReport ApplyShares(std::span<const TimeShare> shares);

  const Scenario& scenario() const { return scenario_; }
  const Observation& everything() const { return observation_; }  // also what rules hide
  const StepFacts& last_step() const { return step_; }
  // Where decisions fall on events: one falls on this time, too, if a job is unfinished then.
  void DecideAt(Seconds time) { decide_at_ = time; }
  // From now on job_seconds, slowdown_seconds and progress of steps stay 0.
  void LeaveOutSums() { sums_ = false; }
  // Before the first answer: policies read no other rates of the tables (of stepped training).
  void ShowRates(RatesRead rates);
  const std::vector<JobRecord>& records() const { return records_; }  // by job index
  // After each decision, completion and loss of a node; of several at one time the last. Jobs that
  // arrive between decisions count from the next one on.
  const std::vector<TimelinePoint>& timeline() const { return timeline_; }
  std::vector<JobRecord> TakeRecords();       // of a run that is over, without a copy:
  std::vector<TimelinePoint> TakeTimeline();  // the cluster has none afterwards
  Seconds last_decision() const { return last_decision_; }  // -1: there was none
  // By GPU, nodes in order: how long it worked. Of whole rounds only, else empty.
  const std::vector<Seconds>& busy_seconds() const { return busy_seconds_; }

 private:
  // What the simulator knows of a job that runs, beyond the observation.
  struct Run {
    double work = 0;    // true total
    Seconds ready = 0;  // end of the restart; progress counts from here
    double rate = 0;
    Seconds finish = kNever;
    double gpus = 0;        // held; of GPUs that two jobs share each has half
    double round_work = 0;  // of whole rounds: done by the end of this one; 0: it has failed
    Seconds round_end = 0;  // of whole rounds: of its part of it
  };

  struct Completion {  // of a job
    Seconds time;
    GpuCount gpus;  // that came free
  };

  void NotePoint(TimelinePoint point);  // its nodes are those of now
  void NoteCompletions();               // before the rows that ended go
  void Admit(Seconds until);            // arrivals with submit <= until become rows
  void AdvanceTo(Seconds time);         // progress, completions, then arrivals
  void RemoveEndedRows();
  void PassTo(Seconds time);  // the same, between two events of nodes
  void JoinLater();           // nodes whose first event is "up" are down before
  void Apply(const NodeEvent& event);
  void StopJobsOn(NodeIndex node, bool failed);
  // Of clusters whose size follows their use (sim/autoscaler.h).
  void BeginScaling();
  void Scale();  // at an interval, before its decision
  void PassEmpty(Seconds time);
  void ShrinkTo(std::int32_t nodes);
  void PlanRound();
  void PassRound();
  void CountFailures(Seconds end);
  void ForgetDropped();
  void NoteBusyGpus();
  // Of jobs that train applications in steps (TrainingRules::stepped).
  TrainingRun* TrainingOf(JobIndex job) const;  // null: it does not
  void BeginTraining();
  TrainingRun::Chooser ChooserOf(JobIndex job) const;
  void PlaceTraining();  // of those that holdings_ has changed
  std::vector<bool> Interfered() const;
  void StepTraining(Seconds time);
  void ShowRenewed();
  void PassSteps(Seconds holds_until);
  ApplyReport ApplyRuled(const Allocation& answer);
  void FollowPartners(const Allocation& allocation);  // of jobs that share GPUs
  void PartFromPartners();                            // who has lost its partner is alone
  void ChargeSurvivors(Seconds time);
  GpuCount ComesFree(std::size_t slot) const;
  GpuCount GpusUsed() const;
  void Stop(std::size_t row);
  // Makes the changes that holdings_ has found and taken, whose entries are of `given`.
  ApplyReport MakeChanges(const Allocation& given);
  void MoveShares(const Allocation& given, ApplyReport* report);
  // `before`: null: it held nothing; `same_shape`: as many GPUs on each node of the same type.
  Run Give(const Allocation::Entry& entry, std::size_t row, const Run* before, bool same_shape,
           ApplyReport* report);
  Run RunOf(std::size_t row, std::int32_t configuration, Seconds ready) const;
  void BeginWalks();  // of jobs with a process that were given something
  JobProcess::Segment SegmentOf(std::size_t row, double* done) const;
  double Walk(std::size_t row, double done, Seconds worked) const;
  Seconds WalkToEnd(std::size_t row, const Run& run) const;
  double DoneAtCheckpoint(std::size_t row, const Run& run) const;
  Seconds NextMeasurement() const;                  // of a rate that policies do not know yet
  bool MeasureRate(std::size_t slot, Seconds now);  // true where its table was renewed
  void MeasureRates();
  void ShowTable(std::size_t row);
  Seconds NextJobEvent() const;              // next arrival, completion or measurement
  Seconds NextEvent() const;                 // the same, or of a node while jobs are unfinished
  Seconds NextTick(Seconds time) const;      // first decision instant >= time
  Seconds NextInterval(Seconds time) const;  // first scheduled one >= time
  Seconds IntervalAfterNow() const;          // the next scheduled one
  Seconds NextQuietDecision() const;         // the same, later in very long quiet times
  Seconds InstantOf(Seconds event) const;    // when it is decided on
  void FindFirstFinish();
  Seconds FinishAt(const Run& run, Seconds exact) const;
  void CheckNotStuck(Seconds event, Seconds holds_until);

  const Scenario& scenario_;
  std::unique_ptr<ClusterSpec> present_;  // the cluster as it is now, where nodes come and go
  std::vector<NodeAway> away_;            // of these, by node
  std::size_t next_node_event_ = 0;
  std::int32_t nodes_present_ = 0;          // with capacity
  std::unique_ptr<Autoscaler> autoscaler_;  // null: none
  Observation observation_;
  std::vector<std::int32_t> running_rows_;  // ascending
  std::vector<Run> runs_;                   // of these
  Seconds first_finish_ = kNever, decide_at_ = kNever;
  std::vector<double> inverse_duration_;  // by job, of those that have arrived
  std::vector<std::int32_t> row_of_job_;  // -1: not a row
  Holdings holdings_;
  std::unique_ptr<SimulatedRules> rules_;  // null: none hold jobs
  std::vector<JobRecord> records_;
  std::vector<TimelinePoint> timeline_;
  Seconds last_decision_ = -1;
  Seconds last_event_ = 0;  // when a job last arrived or ended, or a node came or went
  StepFacts step_;
  std::unique_ptr<Belief> belief_;    // null: policies see the true tables
  std::vector<Seconds> measured_at_;  // by job: when its rate was last measured, or it started
  struct JobWalk {
    double begun = 0;  // done work at its last start
    // The segment of its process that was asked for last on what it holds, from there on.
    double from = 0;
    JobProcess::Segment segment{0, 0};
  };
  mutable std::vector<JobWalk> walks_;  // by job, where some have a process
  // Of training in steps.
  std::vector<std::unique_ptr<TrainingRun>> training_;  // by job, null: it trains no application
  bool requested_batches_ = false;                      // as the last answer says
  std::vector<JobIndex> renewed_;                       // whose tables were, in this step
  bool shows_rates_ = true;             // as believed; else tables are the true ones
  Seconds round_end_ = kNever;          // of the last whole round in which something ran
  std::vector<std::int32_t> failures_;  // by job: its failed rounds in a row
  std::vector<JobIndex> dropped_;       // in this round
  std::vector<std::size_t> first_gpu_;  // by node: its place in busy_seconds_
  std::vector<Seconds> busy_seconds_;
  JobIndex next_arrival_ = 0;
  std::int64_t applied_decision_ = -1;
  std::int64_t idle_decisions_ = 0;
  double gpus_used_ = 0;
  bool sums_ = true;
  std::vector<Completion> completions_;  // this and below: kept to avoid allocation per decision
  std::vector<std::int32_t> ended_rows_;
  std::vector<std::size_t> ended_slots_;  // of these
  std::vector<std::int32_t> new_running_rows_;
  std::vector<Run> new_runs_;
  std::vector<NodeShare> new_shares_;
  std::vector<std::int32_t> new_share_begin_;
};

}  // namespace allot
