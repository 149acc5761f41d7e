#pragma once
// A runtime of no processes for tests: nodes, jobs and workers are what the test says; workers join
// at the next look after their start, reach an epoch at the next one after its announcement, and
// leave when it leaves them out, unless the test holds them back. It behaves as real runtimes do
// (tests/unit/live/runtimes). While `strict`, it also fails the test for what a daemon should never
// ask for: a GPU or a worker's name twice, an epoch backward.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/cpu_time.h"
#include "live/runtimes/runtime.h"
#include "live/runtimes/worker_end.h"
#include "live/state/clock.h"

namespace allot {

// Time as tests want it.
struct FakeTime {
  double monotonic = 100;
  double wall = 1000;
  void Pass(double seconds) {
    monotonic += seconds;
    wall += seconds;
  }
  LiveClock::Source source() {
    return {[this] { return monotonic; }, [this] { return wall; }};
  }
};

class FakeRuntime : public Runtime {
 public:
  explicit FakeRuntime(FakeTime* time) : time_(time) {}

  struct Worker {
    RuntimeWorker seen;
    bool stopping = false;
  };
  struct JobData {
    RuntimeJob job;
    Membership membership{-1, {}};
    JobProgress progress;
  };

  void AddNode(const std::string& name, GpuCount gpus, const std::string& type = "gpu") {
    nodes.push_back({name, type, {gpus, 64}});
  }
  RuntimeJob& AddJob(const std::string& id, GpuCount gpus, GpuCount min, GpuCount max,
                     ResizeMode mode = ResizeMode::kHot) {
    RuntimeJob job;
    job.id = id;
    job.user = "user";
    job.name = id;
    job.submit = time_->wall;
    job.requested = gpus;
    job.min_gpus = min;
    job.max_gpus = max;
    job.mode = mode;
    jobs[id].job = job;
    shown_.erase(id);
    return jobs[id].job;
  }

  RuntimeSnapshot TakeSnapshot() override {
    if (unreachable) throw RunError("the controller does not answer");
    for (const Seconds begin = ThreadCpuSeconds(); ThreadCpuSeconds() - begin < look_cost;) {
    }
    for (auto& [id, worker] : workers) {
      RuntimeWorker& seen = worker.seen;
      if (seen.state == WorkerState::kEnded || frozen.contains(id)) continue;
      JobData& job = jobs[seen.job];
      const auto pending = pending_nodes.find(seen.node);
      const bool queued = seen.state == WorkerState::kStarting && pending != pending_nodes.end() &&
                          !worker.stopping;
      seen.pending.reset();
      if (queued) {
        const bool limit = pending->second.starts_with("QOS");
        seen.pending = {limit ? PendingCause::kUserLimit : PendingCause::kNodes, pending->second,
                        pending_detail};
        continue;
      }
      const bool starting = seen.state == WorkerState::kStarting && !slow.contains(id);
      const bool left = !starting && was_member.contains(id) && !IsMember(job, id);
      if (worker.stopping || left) {
        seen.state = WorkerState::kEnded;
      } else if (starting) {
        seen.state = WorkerState::kReady;
      }
      if (IsMember(job, id)) was_member.insert(id);
    }
    for (auto& [id, job] : jobs) {
      const auto& members = job.membership.members;
      const bool all = !members.empty() &&
                       std::all_of(members.begin(), members.end(), [this](const std::string& m) {
                         const auto found = workers.find(m);
                         return found != workers.end() && !frozen.contains(m) &&
                                found->second.seen.state == WorkerState::kReady;
                       });
      if (all && !hold_epochs) job.progress.epoch = job.membership.epoch;
      const bool trains = job.job.mode == ResizeMode::kHot ? all : Alive(id) > 0;
      if (trains && !stuck.contains(id)) {
        ++job.progress.step;
        job.progress.work += WorkOf(id);
      }
    }
    RuntimeSnapshot snapshot;
    snapshot.nodes = nodes;
    snapshot.limits = limits;
    for (const auto& [id, job] : jobs) {
      if (forgotten.contains(id)) continue;
      snapshot.jobs.push_back(Shown(job.job));
    }
    for (const auto& [id, worker] : workers) {
      snapshot.workers.push_back(worker.seen);
      WorkerState& state = snapshot.workers.back().state;
      if (deaf && state == WorkerState::kReady) state = WorkerState::kStarting;
    }
    return snapshot;
  }

  Status Start(const std::string& job, std::span<const WorkerRequest> requests) override {
    if (unreachable) throw RunError("the controller does not answer");
    if (!jobs.contains(job)) return Status::Refused("no job '{}'", job);
    if (refuse_starts > 0) {
      --refuse_starts;
      return Status::Refused("no");
    }
    plans[job] = requests.front().plan;
    for (const WorkerRequest& request : requests) {
      if (!strict && workers.contains(request.worker)) continue;
      EXPECT_FALSE(workers.contains(request.worker)) << request.worker << " is started twice";
      for (const auto& [id, worker] : workers) {
        if (worker.seen.state == WorkerState::kEnded || worker.seen.node != request.node) continue;
        EXPECT_EQ(worker.seen.gpus & request.gpus, 0U)
            << request.worker << " gets GPUs that " << id << " holds";
      }
      EXPECT_NE(request.gpus, 0U);
      Worker worker;
      worker.seen.id = request.worker;
      worker.seen.job = job;
      worker.seen.node = request.node;
      worker.seen.gpus = request.gpus;
      workers[request.worker] = worker;
    }
    return Status::Ok();
  }

  Status Stop(const std::string& id, StopMode mode) override {
    if (unreachable) throw RunError("the controller does not answer");
    if (refuse_stops > 0) {
      --refuse_stops;
      return Status::Refused("no");
    }
    const auto found = workers.find(id);
    if (found == workers.end()) return Status::Ok();
    found->second.stopping = true;
    if (mode == StopMode::kKill) {
      found->second.seen.state = WorkerState::kEnded;
      frozen.erase(id);
    }
    return Status::Ok();
  }

  Status Announce(const std::string& job, const Membership& membership) override {
    if (unreachable) throw RunError("the controller does not answer");
    Membership& latest = jobs.at(job).membership;
    if (!strict && membership.epoch < latest.epoch) return Status::Refused("an earlier epoch");
    EXPECT_GE(membership.epoch, latest.epoch) << "an epoch goes backward";
    if (membership.epoch == latest.epoch) {
      EXPECT_EQ(membership.members, latest.members) << "an epoch changes its members";
    }
    const auto survives = [&](const std::string& member) {
      return std::find(membership.members.begin(), membership.members.end(), member) !=
             membership.members.end();
    };
    const bool state_lives =
        std::any_of(latest.members.begin(), latest.members.end(), [&](const std::string& m) {
          return workers.contains(m) && workers[m].seen.state == WorkerState::kReady &&
                 !workers[m].stopping && !frozen.contains(m);
        });
    if (state_lives && !membership.members.empty()) {
      EXPECT_TRUE(survives(membership.members.front()) &&
                  std::any_of(latest.members.begin(), latest.members.end(), survives))
          << "nobody hands the training state on";
    }
    latest = membership;
    return Status::Ok();
  }

  Status SetBatch(const std::string& job, const WorkerBatchOrder& batch) override {
    if (unreachable) throw RunError("the controller does not answer");
    batches[job] = jobs.at(job).progress.batch.present = batch;
    return Status::Ok();
  }

  Status SetCheckpointEvery(const std::string& job, Seconds every) override {
    checkpoint_every[job] = every;
    return Status::Ok();
  }

  JobProgress Progress(const std::string& job) override {
    const auto found = jobs.find(job);
    return found == jobs.end() || deaf ? JobProgress{} : found->second.progress;
  }

  Status Fail(const std::string& job, const std::string& reason) override {
    jobs.at(job).job.state = JobState::kFailed;
    jobs.at(job).job.reason = reason;
    return Status::Ok();
  }
  void Explain(const std::string& job, const std::optional<JobTrouble>& trouble) override {
    explained[job] = trouble ? trouble->why : "";
    if (trouble) told_idle[job] = trouble->holds_gpus;
  }
  void Forget(const std::string& job) override { forgotten.insert(job); }
  Status LoadPastOutages(std::vector<PastOutage>* outages) override {
    *outages = past_outages;
    return Status::Ok();
  }
  void Wait(Seconds at_most) override {
    waits.push_back(at_most);
    if (on_wait) on_wait();
    time_->Pass(tick);
  }

  void Kill(const std::string& id) { End(id, WorkerExit::kFailure, "signal 9"); }
  void End(const std::string& id, WorkerExit exit, const std::string& reason) {
    Worker& worker = workers.at(id);
    const JobData& job = jobs.at(worker.seen.job);
    SetEnded(JudgeWorkerEnd({.mode = job.job.mode,
                             .exit = exit,
                             .job_over = job.job.state != JobState::kActive,
                             .stopped = worker.stopping,
                             .watched = true,
                             .joined = worker.seen.state == WorkerState::kReady,
                             .announced = job.membership.epoch >= 0,
                             .member = IsMember(job, id)}),
             reason, &worker.seen);
  }
  // As a cluster does that starts no workers of the job again.
  void EndAsFailed(const std::string& id) {
    jobs.at(id).job.state = JobState::kFailed;
    for (auto& [name, worker] : workers) {
      if (worker.seen.job == id) worker.seen.state = WorkerState::kEnded;
    }
  }
  void Finish(const std::string& id) {
    jobs.at(id).job.state = JobState::kFinished;
    for (auto& [name, worker] : workers) {
      if (worker.seen.job == id) worker.seen.state = WorkerState::kEnded;
    }
  }
  int Alive(const std::string& job) const {
    int alive = 0;
    for (const auto& [id, worker] : workers) {
      alive += worker.seen.job == job && worker.seen.state != WorkerState::kEnded ? 1 : 0;
    }
    return alive;
  }
  // Of a look: 10 a worker, by the speed of its GPU's type.
  double WorkOf(const std::string& job) const {
    double work = 0;
    for (const auto& entry : workers) {
      const auto& worker = entry.second;
      if (worker.seen.job != job || worker.seen.state == WorkerState::kEnded) continue;
      const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const RuntimeNode& one) {
        return one.name == worker.seen.node;
      });
      const auto speed = node == nodes.end() ? speeds.end() : speeds.find(node->gpu_type);
      work += speed == speeds.end() ? 10 : 10 * speed->second;
    }
    return work;
  }
  std::vector<std::string> AliveIds(const std::string& job) const {
    std::vector<std::string> ids;
    for (const auto& [id, worker] : workers) {
      if (worker.seen.job == job && worker.seen.state != WorkerState::kEnded) ids.push_back(id);
    }
    return ids;
  }
  bool IsMember(const JobData& job, const std::string& id) const {
    const auto& members = job.membership.members;
    return std::find(members.begin(), members.end(), id) != members.end();
  }

  std::vector<RuntimeNode> nodes;
  std::vector<SharedLimit> limits;
  std::vector<PastOutage> past_outages;
  std::map<std::string, JobData> jobs;
  std::map<std::string, Worker> workers;
  std::map<std::string, WorkerBatchOrder> batches;          // as jobs were told
  std::map<std::string, Seconds> checkpoint_every;          // likewise
  std::map<std::string, std::optional<std::string>> plans;  // of the last start of each job
  std::map<std::string, std::string> explained;             // as users were told
  std::map<std::string, bool> told_idle;             // of what was explained last: it holds GPUs
  std::map<std::string, double> speeds;              // of GPU types; 1 of those that are not named
  std::map<std::string, std::string> pending_nodes;  // that begin with nothing, and why
  std::string pending_detail;                        // a sentence on that
  std::set<std::string> slow;                        // do not join yet
  std::set<std::string> frozen;                      // do nothing
  std::set<std::string> stuck;                       // jobs whose workers live and do nothing
  std::set<std::string> was_member;
  std::set<std::string> forgotten;
  bool strict = true;
  bool hold_epochs = false;  // nobody reaches a new epoch
  bool deaf = false;         // workers have not reached the daemon yet
  bool unreachable = false;
  int refuse_starts = 0;
  int refuse_stops = 0;
  double tick = 0.1;
  Seconds look_cost = 0;  // CPU time of a snapshot, at least
  std::function<void()> on_wait;
  std::vector<Seconds> waits;  // as asked for

 private:
  // The same record while nothing of it that may change has changed, as runtimes of many jobs do.
  std::shared_ptr<const RuntimeJob> Shown(const RuntimeJob& job) {
    const auto changing = [](const RuntimeJob& one) {
      return std::tie(one.state, one.reason, one.priority, one.preempt, one.only_on, one.limits,
                      one.even, one.settling);
    };
    std::shared_ptr<const RuntimeJob>& shown = shown_[job.id];
    if (shown == nullptr || changing(*shown) != changing(job)) {
      shown = std::make_shared<const RuntimeJob>(job);
    }
    return shown;
  }
  FakeTime* time_;
  std::map<std::string, std::shared_ptr<const RuntimeJob>> shown_;
};

}  // namespace allot
