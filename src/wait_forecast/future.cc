#include "wait_forecast/future.h"

#include <algorithm>

#include "core/index.h"
#include "sched/driver.h"

namespace allot {
namespace {

// A policy that leaves a cluster idle for so many intervals is taken to do so for ever.
constexpr int kIdleForGood = 20;

}  // namespace

Future::Future(const Scenario& world, const Observation& start, const RulesPast& past,
               const FutureLimits& limits)
    : world_(world),
      start_(start),
      limits_(limits),
      simulation_(world, start, past),
      cluster_(simulation_.cluster()),
      seen_(cluster_.Observe()),
      known_(static_cast<JobIndex>(start.rows())),
      starts_(start.job.size(), kNever),
      ends_(start.job.size(), kNever) {
  for (JobIndex job = 0; job < known_; ++job) {
    if (start.running[At(job)] < 0) waiting_.push_back(job);
  }
}

Future::End Future::Simulate(Policy& policy, const EpisodeContext& context,
                             const std::function<void()>& pause) {
  cluster_.LeaveOutSums();
  cluster_.Throttle(limits_.step);
  cluster_.ShowRates(policy.info().rates);
  rows_shown_ = seen_.rows();
  const auto enough = [&] {
    if (pause) pause();
    return Enough();
  };
  Drive(simulation_.port(), policy, context, {}, {.time_decisions = false, .enough = enough});
  if (end_ == End::kBeyondPart) return end_;
  RecordStarts();
  RecordEnds();
  return end_;
}

void Future::RecordStarts() {
  const Observation& o = seen_;
  std::size_t left = 0;
  for (const JobIndex job : waiting_) {
    Seconds began = cluster_.records()[At(job)].first_start;
    if (began == kNever && start_.changes[At(job)] > 0) {  // it had begun before
      const auto row = std::lower_bound(o.job.begin(), o.job.end(), job);
      const bool there = row != o.job.end() && *row == job;
      const bool runs = there && o.running[static_cast<std::size_t>(row - o.job.begin())] >= 0;
      if (!there || runs) began = cluster_.last_decision();
    }
    if (began == kNever) {
      waiting_[left++] = job;
    } else {
      starts_[At(job)] = began;
    }
  }
  waiting_.resize(left);
}

bool Future::StaysIdle() {
  const bool idle =
      !waiting_.empty() && seen_.events.ended.empty() && cluster_.timeline().back().running == 0;
  if (!idle) idle_since_ = kNever;
  if (idle && idle_since_ == kNever) idle_since_ = cluster_.last_decision();
  return idle && seen_.now - idle_since_ >= kIdleForGood * seen_.interval;
}

bool Future::Enough() {
  RecordStarts();
  if (StaysIdle()) {
    for (const JobIndex job : waiting_) starts_[At(job)] = ends_[At(job)] = kUnknown;
    return true;
  }
  if (limits_.only && HasStarted(*limits_.only)) return true;
  const Seconds played = ahead();
  if (played >= limits_.horizon || seen_.job.empty() || seen_.job.front() >= known_) return true;
  if (waiting_.empty() && played >= limits_.settle) return true;
  if (played >= limits_.part) {
    end_ = End::kBeyondPart;
  } else if (rows_shown_ + seen_.rows() > limits_.rows) {
    end_ = End::kBudgetSpent;
  }
  if (end_ != End::kComplete) return true;
  rows_shown_ += seen_.rows();
  return false;
}

void Future::RecordEnds() {
  const Observation& o = seen_;
  for (JobIndex job = 0; job < known_; ++job) {
    const Seconds finish = cluster_.records()[At(job)].finish;
    if (finish != kNever) ends_[At(job)] = finish;
  }
  for (std::size_t r = 0; r < o.job.size() && o.job[r] < known_; ++r) {
    if (o.running[r] < 0) continue;
    const double rate = (*o.table[r])[o.running[r]].rate;
    const double left = std::max(0.0, world_.facts(o.job[r]).work - o.done_work[r]);
    if (rate > 0) ends_[At(o.job[r])] = o.now + left / rate;
  }
}

}  // namespace allot
