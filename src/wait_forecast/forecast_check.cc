#include "wait_forecast/forecast_check.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/cpu_time.h"
#include "core/index.h"
#include "workload/calendar.h"

namespace allot {
namespace {

TimeQuantiles TimesAhead(TimeQuantiles times, Seconds now) {
  for (Seconds& time : times) time -= now;
  return times;
}

std::set<JobIndex> JobsGiven(const Allocation& allocation) {
  std::set<JobIndex> given;
  for (const Allocation::Entry& entry : allocation.entries()) given.insert(entry.job);
  return given;
}

// As before this job was submitted.
Observation Without(const Observation& o, std::int32_t row) {
  Observation others = o;
  others.ClearJobs();
  for (std::int32_t r = 0; r < o.rows(); ++r) {
    if (r != row) others.Append(o.Row(r), o.shares_of(r));
  }
  return others;
}

double PinballLoss(const PredictedTime& time, Seconds horizon) {
  double sum = 0;
  for (std::size_t l = 0; l < kForecastLevels.size(); ++l) {
    const double over = time.observed - std::min(time.ahead[l], horizon);
    sum += over >= 0 ? kForecastLevels[l] * over : (kForecastLevels[l] - 1) * over;
  }
  return sum / static_cast<double>(kForecastLevels.size());
}

ForecastScore ScoreOf(const std::vector<const PredictedTime*>& times, Seconds horizon) {
  ForecastScore score;
  score.times = static_cast<std::int64_t>(times.size());
  if (times.empty()) return score;
  const auto n = static_cast<double>(times.size());
  double below = 0, above = 0, pinball = 0;
  std::vector<double> widths;
  std::set<std::int64_t> moments;
  widths.reserve(times.size());
  for (const PredictedTime* time : times) {
    below += time->observed < time->ahead[0] ? 1 : 0;
    above += time->observed > time->ahead[2] ? 1 : 0;
    pinball += PinballLoss(*time, horizon);
    widths.push_back(time->ahead[2] == kNever ? kNever : time->ahead[2] - time->ahead[0]);
    moments.insert(time->moment);
  }
  score.moments = static_cast<std::int64_t>(moments.size());
  score.below = below / n;
  score.above = above / n;
  score.covered = 1 - score.below - score.above;
  score.pinball = pinball / n;
  const auto middle = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2);
  std::nth_element(widths.begin(), middle, widths.end());
  score.width = *middle;
  return score;
}

}  // namespace

ForecastCheck::ForecastCheck(const WaitForecaster& forecaster, const Scenario& scenario,
                             LengthModel lengths, Policy& policy, const CheckOptions& options)
    : forecaster_(forecaster),
      scenario_(scenario),
      lengths_(std::move(lengths)),
      policy_(policy),
      options_(options),
      next_(options.from),
      expected_(scenario.workload().jobs.size()) {
  lengths_.OnEpisodeStart();
}

void ForecastCheck::OnDecision(const Observation& o, const Allocation& allocation) {
  lengths_.Observe(o);
  for (const Allocation::Entry& entry : allocation.entries()) {
    for (const std::size_t t : expected_[At(entry.job)]) times_[t].observed = o.now - made_[t];
    expected_[At(entry.job)].clear();
  }
  if (o.now < next_ || o.now >= options_.until || o.rows() == 0) return;
  if (options_.quotes && o.events.arrived.empty()) return;
  while (next_ <= o.now) next_ += options_.every;
  const double begin = ThreadCpuSeconds();
  options_.quotes ? QuoteArrivals(o, allocation) : Predict(o, allocation);
  cpu_seconds_ += ThreadCpuSeconds() - begin;
}

void ForecastCheck::Expect(Predicted what, JobIndex job, const TimeQuantiles& times, Seconds now) {
  if (what == Predicted::kStart) expected_[At(job)].push_back(times_.size());
  times_.push_back({what, moments_, job, TimesAhead(times, now), kUnknown});
  made_.push_back(now);
}

void ForecastCheck::Predict(const Observation& o, const Allocation& allocation) {
  const Workload& workload = scenario_.workload();
  const auto origin = static_cast<Seconds>(ParseCalendar(workload.origin).value_or(0));
  const std::set<JobIndex> given = JobsGiven(allocation);
  for (const JobForecast& job :
       forecaster_.Predict({o, origin, &workload.tenants.names()}, lengths_, policy_).jobs) {
    if (!job.known() || (job.waits && given.contains(job.job))) continue;
    if (job.waits) Expect(Predicted::kStart, job.job, job.start, o.now);
    Expect(job.waits ? Predicted::kEndOfWaiting : Predicted::kEndOfRunning, job.job, job.end,
           o.now);
  }
  ++moments_;
}

void ForecastCheck::QuoteArrivals(const Observation& o, const Allocation& allocation) {
  const Workload& workload = scenario_.workload();
  const auto origin = static_cast<Seconds>(ParseCalendar(workload.origin).value_or(0));
  const std::set<JobIndex> given = JobsGiven(allocation);
  for (const std::int32_t row : o.events.arrived) {
    const JobIndex index = o.job[At(row)];
    if (given.contains(index)) continue;
    const Scenario::JobFacts& facts = scenario_.facts(index);
    const Job& job = workload.jobs[At(index)];
    const HypotheticalJob asked = {.table = facts.table,
                                   .requested = facts.requested,
                                   .estimated_work = o.estimated_work[At(row)],
                                   .user = workload.users[job.user],
                                   .tenant = workload.tenants[job.tenant]};
    const Observation before = Without(o, row);
    const StartForecast quote = forecaster_
                                    .PredictStarts({before, origin, &workload.tenants.names()},
                                                   {&asked, 1}, lengths_, policy_)
                                    .jobs.front();
    if (quote.known()) Expect(Predicted::kStart, index, quote.start, o.now);
  }
  ++moments_;
}

std::vector<PredictedTime> ForecastCheck::Times(const std::vector<JobRecord>& records) {
  std::vector<PredictedTime> known;
  for (std::size_t t = 0; t < times_.size(); ++t) {
    PredictedTime& time = times_[t];
    const Seconds finish = records[At(time.job)].finish;
    if (time.what != Predicted::kStart && finish < kNever) time.observed = finish - made_[t];
    if (!std::isnan(time.observed)) known.push_back(time);
  }
  return known;
}

std::vector<ForecastScore> ScoresOf(const std::vector<PredictedTime>& times, Seconds horizon) {
  std::vector<ForecastScore> scores;
  for (std::size_t what = 0; what < kPredictedNames.size(); ++what) {
    std::vector<const PredictedTime*> all;
    std::array<std::vector<const PredictedTime*>, kLeads> by_lead;
    for (const PredictedTime& time : times) {
      if (static_cast<std::size_t>(time.what) != what) continue;
      all.push_back(&time);
      by_lead[LeadOf(time.ahead[1])].push_back(&time);
    }
    const auto add = [&](const std::vector<const PredictedTime*>& of, const char* lead) {
      ForecastScore score = ScoreOf(of, horizon);
      score.what = kPredictedNames[what];
      score.lead = lead;
      scores.push_back(std::move(score));
    };
    add(all, "all");
    for (std::size_t lead = 0; lead < kLeads; ++lead) add(by_lead[lead], LeadName(lead));
  }
  return scores;
}

}  // namespace allot
