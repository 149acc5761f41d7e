#pragma once
// A scheduler in memory, of one partition, for tests of advice.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "advice/advised_queue.h"
#include "core/error.h"

namespace allot::testing_support {

inline constexpr Seconds kNow = 1'800'000'000;

// A job of one GPU that waits.
inline QueuedJob Waiting(int number, const std::string& user, std::int64_t priority,
                         Seconds limit = 3600) {
  QueuedJob job;
  job.id = std::to_string(number);
  job.number = static_cast<std::uint64_t>(number);
  job.user = user;
  job.gpus = 1;
  job.limit = limit;
  job.submit = kNow - 600;
  job.priority = priority;
  return job;
}

inline AdvisedQueue QueueOf(std::vector<QueuedJob> waiting, const char* cluster = "1x1") {
  AdvisedQueue queue;
  queue.name = "main";
  queue.cluster = ClusterSpec::Parse(cluster);
  queue.waiting = std::move(waiting);
  return queue;
}

// What the scheduler keeps while advisers come and go.
struct FakeScheduler {
  AdvisedQueue queue;
  int writes = 0;
  int dies_after = -1;     // writes: the next one throws; -1: never
  bool dies_late = false;  // once it has been made
  std::string refuses;     // a job, or "all"
  bool lacks_right = false;

  QueuedJob& Of(const std::string& id) {
    for (QueuedJob& job : queue.waiting) {
      if (job.id == id) return job;
    }
    throw RunError("no job {}", id);
  }
  void SetNice(const std::string& id, int nice) {
    QueuedJob& job = Of(id);
    job.priority += job.nice - nice;
    job.nice = nice;
  }
  std::map<std::string, int> Nices() const {
    std::map<std::string, int> nices;
    for (const QueuedJob& job : queue.waiting) nices[job.id] = job.nice;
    return nices;
  }
};

class FakeTarget : public AdviceTarget {
 public:
  explicit FakeTarget(FakeScheduler* scheduler) : scheduler_(*scheduler) {}

  AdviceSnapshot Read() override {
    AdviceSnapshot snapshot;
    snapshot.now = kNow;
    snapshot.queues = {scheduler_.queue};
    for (const QueuedJob& job : scheduler_.queue.waiting) {
      snapshot.jobs[job.id] = {.nice = job.nice, .submit = job.submit};
    }
    return snapshot;
  }
  Workload Past(std::string*) override { return {}; }
  Status MayWrite() override {
    return scheduler_.lacks_right ? Status::Refused("no operator") : Status::Ok();
  }
  Status SetNice(const std::string& id, int nice) override {
    if (scheduler_.refuses == id || scheduler_.refuses == "all") return Status::Refused("no");
    const bool dies = scheduler_.writes == scheduler_.dies_after;
    if (dies && !scheduler_.dies_late) throw std::runtime_error("killed");
    scheduler_.SetNice(id, nice);
    ++scheduler_.writes;
    if (dies) throw std::runtime_error("killed");
    return Status::Ok();
  }
  std::string CommandFor(const std::string& id, int nice) const override {
    return fmt::format("{} {}", id, nice);
  }

 private:
  FakeScheduler& scheduler_;
};

}  // namespace allot::testing_support
