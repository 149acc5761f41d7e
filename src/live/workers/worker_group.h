#pragma once
// The workers of one job, and how they get to where the last decision wants them: a small state
// machine without a clock, a runtime or a file. At every poll WorkerControl asks it for the next
// actions, writes them down and has the runtime do them; RuntimeReader tells it what the runtime
// shows. A daemon that dies between any two of these goes on from the journal.
//
// A hot resize: new workers start -> all have joined -> the epoch is announced -> its members reach
// it -> workers that it leaves out end. Workers leave in the epoch in which others join. They leave
// at once if another job's worker waits for a GPU: two jobs that exchange GPUs would wait for each
// other for ever. While a member lives, the next epoch has one of the members before, so that the
// training state is handed on. A restart: all are stopped with a checkpoint -> all have ended ->
// new ones start. When the next epoch is due is a rule of its own (live/runtimes/next_epoch.h), and
// so is when workers that failed are started again (live/workers/start_backoff.h). A job by count:
// as many are started or stopped as there are too few or too many; those on nodes that are down are
// not counted and left to the runtime, which replaces them.

#include <algorithm>
#include <cstdint>
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
  Seconds patience = 10;         // how long joined workers wait for those that have not
  Seconds start_timeout = 120;   // of a worker, from its start to its joining
  Seconds queue_patience = 20;   // with a cluster that does not begin with a worker
  Seconds leave_grace = 10;      // for a worker that should leave, before it is killed
  Seconds hung_after = 15;       // of a worker that says nothing
  Seconds stalled_after = 1800;  // of a job whose workers all live and do not go on; 0: never
  Seconds broken_grace = 1;      // after members report that they cannot train, to see who is lost
  BackoffOptions backoff{};      // after failures and refusals
};

struct LiveWorker {
  std::string id;
  NodeIndex node = 0;
  std::uint64_t gpus = 0;
  WorkerState state = WorkerState::kStarting;
  bool leaving = false;   // left out of an epoch, or told to stop
  bool killed = false;    // killed; once more every leave_grace while it is there
  Seconds since = 0;      // it was started, should leave, or was killed
  Seconds silent = 0;     // as the runtime says
  std::string waits{};    // the same: why it has not begun
  std::string detail{};   // the same: the sentence on that
  bool elsewhere = true;  // the same: on other nodes it may begin
};

// What is held where, by all workers that have not ended; a mask a node.
using HeldGpus = std::vector<std::uint64_t>;

// What a worker that is stopped has done wrong, which is a failure of the job.
enum class StopFault : std::uint8_t {
  kNone,
  kLate,     // it never joined
  kStalled,  // it lives, and the job does not go on
};

struct WorkerAction {
  enum class Kind { kStart, kAnnounce, kStop, kGiveUp };
  Kind kind = Kind::kStart;
  std::vector<LiveWorker> start;  // all or none; ids are final
  Membership membership;
  std::string worker;  // to stop
  StopMode mode = StopMode::kSave;
  StopFault fault = StopFault::kNone;  // kStop
  std::string why;
};

// What a group knows beside its target, for who writes it down.
struct WorkerGroupPast {
  std::vector<LiveWorker> workers;  // that have not ended
  Membership membership{-1, {}};    // the latest announced
  std::int64_t next_number = 0;
  bool restarting = false;  // kRestart: the present workers are to go first
  StartBackoff backoff;
};

class WorkerGroup {
 public:
  WorkerGroup() = default;
  WorkerGroup(std::string job, ResizeMode mode, WorkerGroupOptions options)
      : job_(std::move(job)), mode_(mode), options_(options) {}

  // Where its workers are to be; empty: nowhere.
  void SetTarget(std::span<const NodeShare> shares);
  void SetOver() { over_ = true; }  // the job is over: nothing starts, what runs is stopped
  // What ran of it is not yet gone for good: nothing starts, which is nobody's fault.
  void SetSettling(bool settling) { settling_ = settling; }

  // What is to be done now. The caller tries every action and reports its outcome before the next
  // call.
  // `node_up`: by node.
  std::vector<WorkerAction> Next(Seconds now, const JobProgress& progress, const HeldGpus& held,
                                 const std::vector<bool>& node_up);
  void StartAccepted() { past_.backoff.Accepted(); }
  void StartRefused(Seconds now, std::string why) {
    past_.backoff.Refused(std::move(why), now, options_.backoff);
  }
  // Why the cluster has not begun with what is wanted, for people; "": it has, or was not asked.
  const std::string& refusal() const { return past_.backoff.refusal; }
  Seconds refused_since() const { return past_.backoff.refused_since; }
  // That workers do not join, though they have their GPUs, for people; "": no such failure.
  std::string lateness() const;
  const WorkerGroupOptions& options() const { return options_; }
  void Announced(const Membership& membership, Seconds now);
  // `step`: of the job, as it was told last.
  void Stopped(const std::string& worker, StopMode mode, StopFault fault, std::int64_t step,
               Seconds now);
  void StopsUndone();  // none of the workers leaves
  // A daemon begins: workers that have not joined it have their time from now on.
  void ExpectAll(Seconds now);

  // What the runtime says of a worker; `failed` counts against the job.
  void Update(const RuntimeWorker& worker, Seconds now);
  void Moved(const std::string& worker, NodeIndex node, std::uint64_t gpus);  // kCount
  void Gone(const std::string& worker, bool failed, std::int64_t step, Seconds now);

  // From the journal, or found running without a record.
  void Adopt(LiveWorker worker);
  const WorkerGroupPast& past() const { return past_; }
  void SetPast(WorkerGroupPast past) { past_ = std::move(past); }
  // A worker that ended unrecorded: the runtime may keep its name, which no other one gets.
  void PassNumberOf(std::string_view worker);

  const std::vector<LiveWorker>& workers() const { return past_.workers; }  // that have not ended
  bool Has(std::string_view worker) const { return Find(worker) != nullptr; }
  const Membership& membership() const { return past_.membership; }
  bool training(const JobProgress& progress) const;  // as the target wants it, undisturbed
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
  const LiveWorker* At(const Slot& slot) const;  // one that stays there
  bool Wanted(const LiveWorker& worker) const;
  bool MayStart(Seconds now) const {
    return now >= past_.backoff.not_before && !settling_ && !over_;
  }
  std::vector<Slot> Missing() const;
  bool AllAreMembers() const;  // as the target wants them
  WorkerAction StartOf(const std::vector<Slot>& slots, Seconds now, HeldGpus* held);
  void EndLate(Seconds now, std::vector<WorkerAction>* actions) const;
  void NextHot(Seconds now, const JobProgress& progress, HeldGpus held,
               const std::vector<bool>& node_up, std::vector<WorkerAction>* actions);
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
  Seconds joined_since_ = kNever;  // somebody has joined and is no member yet
  Seconds broken_since_ = kNever;
  StallWatch stall_;
};

}  // namespace allot
