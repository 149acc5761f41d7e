#pragma once
// The workers of one job: a state machine that moves them towards the target of the last decision,
// without a clock, a runtime or a file. At every poll WorkerControl takes the next actions, writes
// them to the journal and passes them to the runtime; RuntimeReader updates the group from the
// snapshot. A daemon that dies between any two of these continues from the journal.
//
// A hot resize: new workers start -> all have joined -> the epoch is announced -> its members reach
// it -> workers that are not members end. Workers leave in the epoch in which others join, or at
// once if another job's worker waits for a GPU: otherwise two jobs that exchange GPUs would wait
// for each other for ever. PlanEpoch has the rule. A restart: all workers are stopped with a
// checkpoint -> all have ended -> new ones start. A counted job: missing workers are started and
// surplus ones stopped; workers on nodes that are down are not counted, because the runtime
// replaces them. StartBackoff decides when workers that failed are started again.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/allocation.h"
#include "live/runtimes/next_epoch.h"
#include "live/runtimes/runtime.h"
#include "live/status/states.h"
#include "live/workers/stall_watch.h"
#include "live/workers/start_backoff.h"

namespace allot {

struct WorkerGroupOptions {
  Seconds patience = 10;         // joined workers wait so long for the others
  Seconds start_timeout = 120;   // from the start of a worker to its joining
  Seconds queue_patience = 20;   // for the cluster's scheduler to start a worker
  Seconds leave_grace = 10;      // for a worker to leave; then it is killed
  Seconds hung_after = 15;       // a worker that is silent for so long hangs
  Seconds stalled_after = 1800;  // a job without progress for so long has stalled; 0: never
  Seconds broken_grace = 1;  // after members report that they cannot train, to see which are lost
  BackoffOptions backoff{};  // after failures and refusals
};

struct LiveWorker {
  std::string id;
  NodeIndex node = 0;
  std::uint64_t gpus = 0;
  WorkerState state = WorkerState::kStarting;
  bool leaving = false;  // left out of an epoch, or asked to stop
  bool killed = false;   // repeated every leave_grace while it is there
  Seconds since = 0;     // time of its start, of the order to leave, or of the kill
  Seconds silent = 0;    // as the runtime reports
  std::optional<PendingStart> pending{};  // as the runtime reports
};

// A mask of allocated GPUs by node: those of all workers that have not ended.
using HeldGpus = std::vector<std::uint64_t>;

// The fault of a worker that is stopped; it counts as a failure of the job.
enum class StopFault : std::uint8_t {
  kNone,
  kLate,     // it never joined
  kStalled,  // it lives, but the job makes no progress
};

struct WorkerAction {
  enum class Kind { kStart, kAnnounce, kStop, kGiveUp };
  Kind kind = Kind::kStart;
  std::vector<LiveWorker> start;  // kStart: all or none; ids are final
  Membership membership;          // kAnnounce
  std::string worker;             // kStop
  StopMode mode = StopMode::kSave;
  StopFault fault = StopFault::kNone;  // kStop
  std::string why;
};

// State of a group that the journal stores.
struct WorkerGroupPast {
  std::vector<LiveWorker> workers;  // those that have not ended
  Membership membership{-1, {}};    // last announced
  std::int64_t next_number = 0;
  bool restarting = false;  // kRestart: the present workers must end first
  StartBackoff backoff;
};

class WorkerGroup {
 public:
  WorkerGroup() = default;
  WorkerGroup(std::string job, ResizeMode mode, WorkerGroupOptions options)
      : job_(std::move(job)), mode_(mode), options_(options) {}

  // The GPUs that its workers should use; empty: none.
  void SetTarget(std::span<const NodeShare> shares);
  void SetOver() { over_ = true; }  // the job is over: nothing starts, running workers are stopped
  // While earlier workers may still be there, nothing starts, and that is no failure.
  void SetSettling(bool settling) { settling_ = settling; }

  // The actions that are due now. The caller tries each and reports its outcome before the next
  // call. `node_up` is by node.
  std::vector<WorkerAction> Next(Seconds now, const JobProgress& progress, const HeldGpus& held,
                                 const std::vector<bool>& node_up);
  void StartAccepted() { past_.backoff.Accepted(); }
  void StartRefused(Seconds now, std::string why) {
    past_.backoff.Refused(std::move(why), now, options_.backoff);
  }
  // The runtime's reason for refusing the last start; "" if it accepted.
  const std::string& refusal() const { return past_.backoff.refusal; }
  Seconds refused_since() const { return past_.backoff.refused_since; }
  // A sentence on workers that do not join though they have their GPUs; "" without such.
  std::string lateness() const;
  const WorkerGroupOptions& options() const { return options_; }
  void Announced(const Membership& membership, Seconds now);
  // `step` is the last reported step of the job.
  // Returns how the fault counts, where the worker's node may be to blame for it.
  WorkerFailure Stopped(const std::string& worker, StopMode mode, StopFault fault,
                        std::int64_t step, Seconds now);
  void StopsUndone();  // no worker leaves any more
  // A daemon starts: the start_timeout of workers that have not joined begins now.
  void ExpectAll(Seconds now);

  // Takes the runtime's report on a worker; `failed` counts against the job.
  void Update(const RuntimeWorker& worker, Seconds now);
  void Moved(const std::string& worker, NodeIndex node, std::uint64_t gpus);  // kCount
  WorkerFailure Gone(const std::string& worker, bool failed, std::int64_t step, Seconds now);
  void Excuse(int failures) { past_.backoff.Excuse(failures); }

  // Adds a worker from the journal, or one found running without a record.
  void Adopt(LiveWorker worker);
  const WorkerGroupPast& past() const { return past_; }
  void SetPast(WorkerGroupPast past) { past_ = std::move(past); }
  // Reserves the number of a worker that ended without a record, because the runtime may still know
  // its name.
  void PassNumberOf(std::string_view worker);

  const std::vector<LiveWorker>& workers() const { return past_.workers; }  // without ended ones
  bool Has(std::string_view worker) const { return Find(worker) != nullptr; }
  const Membership& membership() const { return past_.membership; }
  bool training(const JobProgress& progress) const;  // on its target, and no change is pending
  bool idle() const { return past_.workers.empty(); }
  JobStage stage(const JobProgress& progress) const;  // kWaiting to kOver

 private:
  struct Slot {
    NodeIndex node;
    std::uint64_t gpus;
    friend bool operator==(const Slot&, const Slot&) = default;
  };
  const LiveWorker* Find(std::string_view id) const;
  LiveWorker* Find(std::string_view id);
  const LiveWorker* At(const Slot& slot) const;  // the worker there that does not leave
  bool Wanted(const LiveWorker& worker) const;
  bool MayStart(Seconds now) const {
    return now >= past_.backoff.not_before && !settling_ && !over_;
  }
  std::vector<Slot> Missing() const;
  bool AllAreMembers() const;  // all of the target's workers
  WorkerAction StartOf(const std::vector<Slot>& slots, Seconds now, HeldGpus* held);
  void KillOverdue(Seconds now, std::vector<WorkerAction>* actions) const;
  void NextHot(Seconds now, const JobProgress& progress, HeldGpus held,
               const std::vector<bool>& node_up, std::vector<WorkerAction>* actions);
  bool StopStalled(Seconds now, const JobProgress& progress, std::vector<WorkerAction>* actions);
  void NextRestart(Seconds now, HeldGpus held, const std::vector<bool>& node_up,
                   std::vector<WorkerAction>* actions);
  void NextCount(Seconds now, HeldGpus held, const std::vector<bool>& node_up,
                 std::vector<WorkerAction>* actions);
  void StopAll(StopMode mode, const std::string& why, std::vector<WorkerAction>* actions,
               StopFault fault = StopFault::kNone) const;
  std::vector<std::string> MembersAlive() const;
  EpochFacts FactsOfEpoch(const JobProgress& progress) const;

  std::string job_;
  ResizeMode mode_ = ResizeMode::kHot;
  WorkerGroupOptions options_;
  std::vector<Slot> target_;
  WorkerGroupPast past_;
  bool over_ = false;
  bool settling_ = false;
  Seconds joined_since_ = kNever;  // since when a worker has joined that is no member yet
  Seconds broken_since_ = kNever;
  StallWatch stall_;
};

}  // namespace allot
