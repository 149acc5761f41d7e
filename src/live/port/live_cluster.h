#pragma once
// A cluster of real machines (cluster/cluster_port.h). The Observation is of the same kind as the
// simulator's: what the runtime shows and what the last decisions gave, of all jobs, in the
// machines' numbers. Apply sets what every job is to have. From then on, at every poll of the
// runtime, the workers of each job are moved towards that, whatever dies in between. Made by the
// daemon (live/daemon/daemon.h), which puts a ConstrainedCluster in front of it; one thread.
//
// Its parts: LiveState is what is known; RuntimeReader brings the runtime's snapshots into it;
// WorkerControl has the runtime start and stop workers; BatchControl sends jobs whose batch follows
// their workers what to train with; StateWriter puts every change into the journal before it is
// done; CheckpointAdvice tells jobs how often to write checkpoints. As a ConstraintSource it states
// which jobs decisions may change, and which GPUs they may give.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster_port.h"
#include "live/port/announced_recalls.h"
#include "live/port/batch_control.h"
#include "live/port/checkpoint_advice.h"
#include "live/port/newcomers.h"
#include "live/port/node_blame.h"
#include "live/port/pending_placements.h"
#include "live/port/poll_pace.h"
#include "live/port/runtime_reader.h"
#include "live/port/worker_control.h"
#include "live/runtimes/runtime.h"
#include "live/state/clock.h"
#include "live/state/journal.h"
#include "live/state/live_counts.h"
#include "live/state/live_state.h"
#include "live/state/state_writer.h"
#include "rules/constraints.h"
#include "rules/maintenance_windows.h"

namespace allot {

struct LiveOptions {
  Seconds interval = 10;         // between scheduled decisions
  Seconds poll = 0.1;            // between polls of the runtime, at least
  bool decide_on_events = true;  // also when a job arrives or ends, or a node comes or goes
  bool dry_run = false;          // decides, starts nothing and writes no journal
  bool until_idle = false;       // ends when no job is left
  JobTable::Options job_table{};
  TopologyOfNodes topology{};  // null: every place is alike
};

// The options that a running daemon can change.
struct LiveSettings {
  Seconds interval = 10;
  Seconds poll = 0.1;
  std::shared_ptr<const OperatorRules> rules{};  // null: none
};

class LiveCluster : public ClusterPort, public ConstraintSource {
 public:
  // `past`: of the journal; what it tells is believed where the runtime does not contradict it.
  // `journal` null: dry run. All outlive the cluster. `first`: what the first poll is to read,
  // where the runtime was asked already.
  LiveCluster(Runtime& runtime, Journal* journal, const LiveClock& clock, LiveOptions options,
              const std::vector<TimedRecord>& past, std::optional<RuntimeSnapshot> first = {});

  const Observation& Observe() const override { return observation_; }
  Status Validate(const Allocation& allocation) const override;
  ApplyReport Apply(const Allocation& allocation) override;
  ApplyReport ApplyValidated(const Allocation& allocation) override;
  // Returns also once a job comes that a decision may change; never for hidden jobs alone. False
  // when stopped, interrupted, or (until_idle) nothing is left to do.
  bool WaitForChange(Seconds valid_until) override;

  const Constraints& ConstraintsOn(const Observation&) override { return constraints_; }
  void OnCorrections(const Corrections& corrections) override;

  // Reads one snapshot of the runtime and does what is next for every job. True when something
  // happened that asks for a decision. WaitForChange polls by itself.
  bool PollRuntime();

  // Called after every poll: the daemon answers its users.
  void OnPoll(std::function<void()> listener) { on_poll_ = std::move(listener); }

  // `by`: the user who asks, for the journal; unset: the daemon itself.
  using Asker = std::optional<std::string>;
  void Pause(const Asker& by = {});   // no decisions; what runs goes on, and is repaired
  void Resume(const Asker& by = {});  // undoes Pause
  void Drain(const Asker& by = {});   // no job begins; those that run go on
  void DrainNode(const std::string& node, const Asker& by = {});  // as if down; UsageError: unknown
  void Undrain(const Asker& by = {});  // undoes Drain, and not that of a node
  void UndrainNode(const std::string& node, const Asker& by = {});

  // By its user, who may give its id or what it is known as; its workers leave as after any end.
  // UsageError when unknown or when several jobs are known so, RunError when refused, as it is in a
  // dry run.
  void Cancel(const std::string& name, const Asker& by = {});

  // From now on these; running jobs keep what they have until a decision changes it. UsageError for
  // rules that a live cluster cannot have: then nothing is changed.
  void SetSettings(const LiveSettings& settings);

  // The end of all workers but those of pinned jobs, for a daemon that is to leave nothing behind;
  // returns when they are gone, or after `at_most`.
  void StopAllJobs(Seconds at_most);

  const LiveState& state() const { return state_; }
  std::vector<Guarantee> guarantees() const {
    const auto& rules = options_.job_table.rules;
    return rules == nullptr ? std::vector<Guarantee>() : rules->guarantees();
  }
  bool HasFairShares() const {
    const auto& rules = options_.job_table.rules;
    return rules != nullptr && rules->fair_share().has_value();
  }
  FailureRule failure_rule() const {
    const auto& rules = options_.job_table.rules;
    return rules == nullptr ? FailureRule() : rules->failures();
  }
  const LiveCounts& counts() const { return counts_; }
  const PendingPlacements& pending() const { return pending_; }
  // Why the runtime cannot be asked now; "": it can.
  const std::string& trouble() const { return unreachable_reason_; }
  // Of the last snapshot (RuntimeSnapshot).
  std::size_t more() const { return more_; }
  const std::optional<std::string>& warning() const { return warning_; }
  Seconds now() const { return clock_.Now(); }
  double origin() const { return clock_.origin(); }  // Unix time of 0
  const LiveOptions& options() const { return options_; }

 private:
  void CheckNode(const std::string& node) const;
  bool Hidden(const LiveJob& job) const;
  void ReportFirstPoll() const;
  void LearnPastOutages();
  void ShowRecalls();
  void WarnOfRules() const;
  void WarnOfTopology();
  void TellUsers();
  bool FollowWindows();
  std::vector<std::string> NodeNames() const;
  void FindPins();
  void FindConstraints();
  std::vector<NodeIndex> NodesWithoutMemoryFor(const LiveJob& job) const;
  std::string RequestOf(const LiveJob& job, std::span<const NodeIndex> full) const;
  void FindWithheldGpus();
  std::vector<GpuCount> FreeGpus() const;
  void FindNodeUse();
  void Refresh();
  void ShowJobs();
  bool BeginDecision();
  void RenewJournal();
  bool Over() const;

  Runtime& runtime_;
  const LiveClock& clock_;
  LiveOptions options_;
  LiveState state_;
  LiveCounts counts_;
  StateWriter writer_;
  RuntimeReader reader_;
  NodeBlame blame_;
  PendingPlacements pending_;
  Newcomers newcomers_;
  WorkerControl workers_;
  BatchControl batches_;
  CheckpointAdvice checkpoints_;
  Observation observation_;
  Constraints constraints_;
  MaintenanceWindows windows_;  // by Unix time
  AnnouncedRecalls recalls_;
  std::vector<SharedLimit> limits_;
  Corrections::Reason correction_ = Corrections::Reason::kNone;  // of the answer applied next
  bool polled_ = false;                                          // there was a first snapshot
  PollPace pace_;
  std::size_t more_ = 0;  // jobs that the runtime knows of and that will come
  std::optional<std::string> warning_;
  std::vector<std::string> topology_notes_;  // that are in the log
  bool event_ = false;                       // something asks for a decision
  std::optional<RuntimeSnapshot> first_;
  const bool begins_;  // the journal is new
  Seconds polled_at_ = 0;
  Seconds answers_since_ = 0;  // the runtime
  std::int64_t applied_ = -1;  // the latest decision that was applied
  std::string unreachable_reason_;
  std::function<void()> on_poll_;
};

}  // namespace allot
