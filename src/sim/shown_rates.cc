#include "sim/shown_rates.h"

#include <algorithm>
#include <utility>

#include "core/index.h"

namespace allot {
namespace {

constexpr Seconds kClockRounding = 1e-6;

void SortUnique(std::vector<std::int32_t>* values) {
  std::sort(values->begin(), values->end());
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

}  // namespace

ShownRates::ShownRates(const Scenario& scenario, std::unique_ptr<Belief> belief,
                       const JobWalks& walks)
    : scenario_(scenario), walks_(walks), belief_(std::move(belief)) {
  if (belief_->measured_after() != kNever) measured_at_.resize(scenario.workload().jobs.size());
}

void ShownRates::LimitTo(RatesRead rates, SimulatedJobs* jobs) {
  if (rates == RatesRead::kTrusted) belief_->LeaveOutUntrusted();
  if (rates != RatesRead::kNone) return;
  shown_ = false;
  measured_at_.clear();
  Observation& o = jobs->observation;
  for (std::size_t row = 0; row < o.job.size(); ++row) {
    const Scenario::JobFacts& facts = jobs->FactsOf(row);
    o.table[row] = facts.table.get();
    o.requested[row] = facts.requested;
  }
}

void ShownRates::Show(std::size_t row, SimulatedJobs* jobs) const {
  if (!shown_) return;
  Observation& o = jobs->observation;
  o.table[row] = belief_->TableOf(o.job[row]);
  o.requested[row] = RequestedAsBelieved(*o.table[row], jobs->FactsOf(row).requested);
}

void ShownRates::Start(JobIndex job, Seconds ready) {
  if (!measured_at_.empty()) measured_at_[At(job)] = ready;
}

Seconds ShownRates::NextMeasurement(const SimulatedJobs& jobs) const {
  if (measured_at_.empty()) return kNever;
  const Observation& o = jobs.observation;
  const Seconds after = belief_->measured_after();
  Seconds next = kNever;
  for (std::size_t slot = 0; slot < jobs.running.size(); ++slot) {
    const RunningJob& run = jobs.running[slot];
    const std::size_t row = jobs.RowIn(slot);
    if (scenario_.TrainsInSteps(o.job[row])) continue;
    if (belief_->measures_starts() && measured_at_[At(o.job[row])] <= run.ready) {
      next = std::min(next, run.ready + after);
    }
    if (!walks_.Follows(o.job[row])) continue;
    double done = o.done_work[row];
    const JobProcess::Segment segment = walks_.SegmentAt(o, row, &done);
    if (!(segment.rate > 0) || segment.until >= run.work) continue;
    next =
        std::min(next, std::max(o.now, run.ready) + (segment.until - done) / segment.rate + after);
  }
  return next;
}

bool ShownRates::MeasureSlot(const SimulatedJobs& jobs, std::size_t slot, Seconds now) {
  const Observation& o = jobs.observation;
  const std::size_t row = jobs.RowIn(slot);
  Seconds& last = measured_at_[At(o.job[row])];
  const Seconds seconds = now - last;
  if (!(seconds > 0) || seconds + kClockRounding < belief_->measured_after()) return false;
  Belief::RateMeasurement measured{o.job[row], o.running[row], o.done_work[row],
                                   jobs.running[slot].rate, seconds};
  if (walks_.Follows(o.job[row])) {
    measured.rate = walks_.SegmentAt(o, row, &measured.done).rate;
  }
  last = now;
  return belief_->Take(measured);
}

void ShownRates::Measure(SimulatedJobs* jobs) {
  if (measured_at_.empty()) return;
  for (std::size_t slot = 0; slot < jobs->running.size(); ++slot) {
    if (!MeasureSlot(*jobs, slot, jobs->observation.now)) continue;
    Show(jobs->RowIn(slot), jobs);
    jobs->observation.events.table_changed.push_back(jobs->running_rows[slot]);
  }
  ShowRenewed(jobs);
}

void ShownRates::MeasureEnd(const SimulatedJobs& jobs, std::size_t slot) {
  if (!measured_at_.empty()) MeasureSlot(jobs, slot, jobs.running[slot].finish);
}

void ShownRates::Learn(JobIndex job, const TrainingMeasurement& measured) {
  if (training()->Measure(job, measured) && shown_) renewed_.push_back(job);
}

void ShownRates::ShowRenewed(SimulatedJobs* jobs) {
  if (shown_) belief_->TakeAlsoRenewed(&renewed_);
  if (renewed_.empty()) return;
  // A job measures itself at the end of each epoch, several times in an interval.
  SortUnique(&renewed_);
  std::vector<std::int32_t>& changed = jobs->observation.events.table_changed;
  for (const JobIndex job : renewed_) {
    const std::int32_t row = jobs->row_of_job[At(job)];
    if (row < 0) continue;
    Show(At(row), jobs);
    changed.push_back(row);
  }
  renewed_.clear();
  SortUnique(&changed);
}

}  // namespace allot
