#include "wait_forecast/past_arrivals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "workload/calendar.h"
#include "workload/past_lengths.h"

namespace allot {
namespace {

constexpr Seconds kDay = 86400;
constexpr Seconds kWeek = 7 * kDay;
constexpr std::size_t kEnoughWeeks = 4;
constexpr std::size_t kEnoughDays = 3;

bool OnWeekend(Seconds calendar) {
  const auto day = static_cast<std::int64_t>(std::floor(calendar / kDay));
  const std::int64_t of_week = ((day + 4) % 7 + 7) % 7;  // 1970-01-01 was a Thursday; Sunday is 0
  return of_week == 0 || of_week == 6;
}

}  // namespace

PastArrivals::PastArrivals(std::shared_ptr<const Scenario> past, Seconds until, Seconds block)
    : past_(std::move(past)), until_(until), block_(block) {
  const Workload& workload = past_->workload();
  const std::vector<Job>& jobs = workload.jobs;
  if (!(block > 0)) throw UsageError("blocks of arrivals must be > 0 s long, got {}", block);
  if (jobs.front().submit >= until) {
    throw UsageError("a history needs a job before its date: '{}' begins at {} s, the date is {} s",
                     workload.name, jobs.front().submit, until);
  }
  origin_ = static_cast<Seconds>(ParseCalendar(workload.origin).value_or(0));
  begin_ = jobs.front().submit;
  const std::vector<Seconds> lengths = PastLengths(workload, until, past_->options().seed);
  work_.reserve(lengths.size());
  for (std::size_t j = 0; j < lengths.size(); ++j) {
    const Scenario::JobFacts& facts = past_->facts(static_cast<JobIndex>(j));
    const bool ended = lengths[j] == jobs[j].duration;
    work_.push_back(ended ? facts.work : lengths[j] * (*facts.table)[facts.requested].rate);
    end_ = jobs[j].submit;
  }
  if (until < kNever) end_ = std::max(end_, std::min(until, end_ + kDay));
}

std::vector<Seconds> PastArrivals::Starts(Seconds phase, Seconds every, Seconds length) const {
  std::vector<Seconds> starts;
  Seconds start = begin_ + std::fmod(phase - begin_, every);
  if (start < begin_) start += every;
  for (; start + length <= end_; start += every) starts.push_back(start);
  return starts;
}

Seconds PastArrivals::StartOf(Rng& rng, Seconds calendar, Seconds length) const {
  const Seconds phase = calendar - origin_;
  std::vector<Seconds> starts = Starts(phase, kWeek, length);
  if (starts.size() < kEnoughWeeks) {
    starts = Starts(phase, kDay, length);
    const bool weekend = OnWeekend(calendar + length / 2);
    std::vector<Seconds> alike;
    for (const Seconds start : starts) {
      if (OnWeekend(origin_ + start + length / 2) == weekend) alike.push_back(start);
    }
    if (alike.size() >= kEnoughDays) starts = std::move(alike);
  }
  if (starts.empty()) return begin_ + rng.Uniform() * (end_ - length - begin_);
  return starts[rng.Below(starts.size())];
}

std::vector<PastArrivals::Arrival> PastArrivals::Draw(Rng& rng, Seconds calendar, Seconds span,
                                                      Seconds part) const {
  constexpr Seconds kLeast = 60;  // a shorter history cannot show arrivals
  std::vector<Arrival> arrivals;
  if (end_ - begin_ < kLeast) return arrivals;
  const std::vector<Job>& jobs = past_->workload().jobs;
  for (Seconds at = 0; at < span && at <= part;) {
    const Seconds length = std::min({block_, span - at, end_ - begin_});
    const Seconds start = StartOf(rng, calendar + at, length);
    auto job = std::upper_bound(jobs.begin(), jobs.end(), start,
                                [](Seconds time, const Job& j) { return time < j.submit; });
    for (; job != jobs.end() && job->submit <= start + length && job->submit < until_; ++job) {
      arrivals.push_back({at + job->submit - start, static_cast<JobIndex>(job - jobs.begin())});
    }
    at += length;
  }
  return arrivals;
}

}  // namespace allot
