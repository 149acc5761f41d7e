// Rates of SimulatedCluster that change while jobs run, and what policies are shown of rates.

#include <algorithm>
#include <cmath>

#include "core/index.h"
#include "sim/simulated_cluster.h"

namespace allot {
namespace {

// Work that is done to within rounding is done: else a segment of no length would never end. And
// what lies ahead lies ahead by more than the clock's rounding.
constexpr double kRounding = 1e-9;
constexpr Seconds kTick = 1e-6;

}  // namespace

Seconds SimulatedCluster::FinishAt(const Run& run, Seconds exact) const {
  if (!scenario_.options().charge_whole_intervals || exact == kNever) return exact;
  return NextInterval(std::max(run.ready, exact - kBoundarySlack * observation_.interval));
}

SimulatedCluster::Run SimulatedCluster::RunOf(std::size_t row, std::int32_t configuration,
                                              Seconds ready) const {
  const Observation& o = observation_;
  const Scenario::JobFacts& facts = scenario_.facts(o.job[row]);
  const Configuration& given = (*facts.table)[configuration];
  Run run;
  run.work = facts.work;
  run.ready = ready;
  run.gpus = given.demand.gpus;
  if (facts.process() != nullptr) return run;  // BeginWalks knows more
  run.rate = given.rate * scenario_.options().speedup;
  if (run.rate > 0) {
    run.finish = FinishAt(run, run.ready + std::max(0.0, run.work - o.done_work[row]) / run.rate);
  }
  return run;
}

// The segment that the job is in, `done` being moved past the end of one that is as good as over.
JobProcess::Segment SimulatedCluster::SegmentOf(std::size_t row, double* done) const {
  const Observation& o = observation_;
  const Scenario::JobFacts& facts = scenario_.facts(o.job[row]);
  JobWalk& walk = walks_[At(o.job[row])];
  const auto at = [&](double work) {
    if (!(walk.from <= work && work < walk.segment.until)) {
      const JobProcess::Placed placed{*facts.table, o.running[row],
                                      o.shares_of(static_cast<std::int32_t>(row))};
      walk.from = work;
      walk.segment = facts.process()->SegmentAt(placed, work);
    }
    return walk.segment;
  };
  JobProcess::Segment segment = at(*done);
  if (segment.until < kNever && segment.until - *done <= kRounding * segment.until) {
    *done = segment.until;
    segment = at(*done);
  }
  segment.rate *= scenario_.options().speedup;
  return segment;
}

void SimulatedCluster::BeginWalks() {
  const Observation& o = observation_;
  for (std::size_t slot = 0; slot < runs_.size(); ++slot) {
    Run& run = runs_[slot];
    const std::size_t row = At(running_rows_[slot]);
    const bool begins = scenario_.facts(o.job[row]).process() != nullptr && run.finish == kNever;
    if (!begins) continue;
    walks_[At(o.job[row])] = {.begun = o.done_work[row]};
    if (TrainingOf(o.job[row]) != nullptr) continue;
    run.finish = FinishAt(run, WalkToEnd(row, run));
  }
}

double SimulatedCluster::Walk(std::size_t row, double done, Seconds worked) const {
  const Scenario::JobFacts& facts = scenario_.facts(observation_.job[row]);
  if (const TrainingRun* run = TrainingOf(observation_.job[row])) return run->done();
  if (facts.process() == nullptr) {
    const double rate = (*facts.table)[observation_.running[row]].rate;
    return std::min(facts.work, done + rate * scenario_.options().speedup * worked);
  }
  while (worked > 0 && done < facts.work) {
    const JobProcess::Segment segment = SegmentOf(row, &done);
    if (!(segment.rate > 0)) break;
    const Seconds to_its_end = (segment.until - done) / segment.rate;
    if (to_its_end > worked) {
      done += segment.rate * worked;
      break;
    }
    done = segment.until;
    worked -= to_its_end;
  }
  return std::min(facts.work, done);
}

Seconds SimulatedCluster::WalkToEnd(std::size_t row, const Run& run) const {
  double done = observation_.done_work[row];
  Seconds end = run.ready;
  while (done < run.work) {
    const JobProcess::Segment segment = SegmentOf(row, &done);
    if (!(segment.rate > 0)) return kNever;
    const double next = std::min(segment.until, run.work);
    end += std::max(0.0, next - done) / segment.rate;
    done = next;
  }
  return end;
}

// What a job that is stopped by a failure has left of its work.
double SimulatedCluster::DoneAtCheckpoint(std::size_t row, const Run& run) const {
  const Seconds every = scenario_.options().failures.checkpoint_every;
  const Seconds ran = std::max(0.0, observation_.now - run.ready);
  const Seconds lost = every > 0 ? std::fmod(ran, every) : 0.0;
  const JobIndex job = observation_.job[row];
  if (lost > 0 && scenario_.facts(job).process() != nullptr) {
    return Walk(row, walks_[At(job)].begun, ran - lost);
  }
  return std::max(0.0, observation_.done_work[row] - lost * run.rate);
}

Seconds SimulatedCluster::NextMeasurement() const {
  const Observation& o = observation_;
  const Seconds after = belief_->measured_after();
  Seconds next = kNever;
  for (std::size_t slot = 0; slot < runs_.size(); ++slot) {
    const Run& run = runs_[slot];
    const std::size_t row = At(running_rows_[slot]);
    if (TrainingOf(o.job[row]) != nullptr) continue;
    if (belief_->measures_starts() && measured_at_[At(o.job[row])] <= run.ready) {
      next = std::min(next, run.ready + after);
    }
    if (scenario_.facts(o.job[row]).process() == nullptr) continue;
    double done = o.done_work[row];
    const JobProcess::Segment segment = SegmentOf(row, &done);
    if (!(segment.rate > 0) || segment.until >= run.work) continue;
    next =
        std::min(next, std::max(o.now, run.ready) + (segment.until - done) / segment.rate + after);
  }
  return next;
}

bool SimulatedCluster::MeasureRate(std::size_t slot, Seconds now) {
  const Observation& o = observation_;
  const std::size_t row = At(running_rows_[slot]);
  Seconds& last = measured_at_[At(o.job[row])];
  const Seconds seconds = now - last;
  if (!(seconds > 0) || seconds + kTick < belief_->measured_after()) return false;
  Belief::RateMeasurement measured{o.job[row], o.running[row], o.done_work[row], runs_[slot].rate,
                                   seconds};
  if (scenario_.facts(o.job[row]).process() != nullptr && TrainingOf(o.job[row]) == nullptr) {
    measured.rate = SegmentOf(row, &measured.done).rate;
  }
  last = now;
  return belief_->Take(measured);
}

void SimulatedCluster::MeasureRates() {
  for (std::size_t slot = 0; slot < runs_.size(); ++slot) {
    if (!MeasureRate(slot, observation_.now)) continue;
    ShowTable(At(running_rows_[slot]));
    observation_.events.table_changed.push_back(running_rows_[slot]);
  }
  ShowRenewed();
}

void SimulatedCluster::ShowTable(std::size_t row) {
  Observation& o = observation_;
  o.table[row] = belief_->TableOf(o.job[row]);
  o.requested[row] = RequestedAsBelieved(*o.table[row], scenario_.facts(o.job[row]).requested);
}

}  // namespace allot
