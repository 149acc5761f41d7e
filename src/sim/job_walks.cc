#include "sim/job_walks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cluster/gpu_slowness.h"
#include "core/index.h"

namespace allot {
namespace {

// Work that is done to within rounding is done: else a segment of no length would never end.
constexpr double kWorkRounding = 1e-9;

}  // namespace

JobWalks::JobWalks(const Scenario& scenario) : scenario_(scenario) {
  if (scenario.has_processes()) walks_.resize(scenario.workload().jobs.size());
}

Seconds JobWalks::Begin(const Observation& o, std::size_t row, Seconds ready,
                        const PlaceFactors& place) {
  walks_[At(o.job[row])] = {.begun = {.done = o.done_work[row], .place = place}};
  return EndFrom(o, row, ready);
}

Seconds JobWalks::Continue(const Observation& o, std::size_t row, Seconds ready,
                           const PlaceFactors& place) {
  JobWalk& walk = walks_[At(o.job[row])];
  std::vector<Mark> earlier = std::move(walk.earlier);
  earlier.push_back(walk.begun);
  walk = {.begun = {std::max(0.0, o.now - ready), o.done_work[row], place},
          .earlier = std::move(earlier)};
  return EndFrom(o, row, std::max(o.now, ready));
}

void JobWalks::BeginStarted(SimulatedJobs* jobs, NetworkLoad* network, const DecisionTimes& times) {
  if (network != nullptr) {
    network->PlaceStarted(*jobs);
    FollowCongestion(jobs, network, times);
  }
  const Observation& o = jobs->observation;
  for (std::size_t slot = 0; slot < jobs->running.size(); ++slot) {
    RunningJob& run = jobs->running[slot];
    if (run.finish != kNever || !Follows(jobs->JobIn(slot))) continue;
    const PlaceFactors place = PlaceOf(*jobs, slot, network);
    run.finish = times.EndOf(Begin(o, jobs->RowIn(slot), run.ready, place), run.ready);
    run.rate = LastRate(o, jobs->RowIn(slot));
  }
}

void JobWalks::FollowCongestion(SimulatedJobs* jobs, NetworkLoad* network,
                                const DecisionTimes& times) {
  Observation& o = jobs->observation;
  for (const JobIndex job : network->Update()) {
    const std::size_t row = At(jobs->row_of_job[At(job)]);
    o.places[row].congestion = static_cast<float>(network->congestion(job));
    const std::size_t slot = jobs->SlotOf(job);
    RunningJob& run = jobs->running[slot];
    if (run.finish == kNever) continue;  // it begins anew
    const Seconds end = Continue(o, row, run.ready, PlaceOf(*jobs, slot, network));
    run.finish = times.EndOf(end, run.ready);
    run.rate = LastRate(o, row);
  }
  jobs->FindFirstFinish();
}

PlaceFactors JobWalks::PlaceOf(const SimulatedJobs& jobs, std::size_t slot,
                               const NetworkLoad* network) const {
  PlaceFactors place = network ? network->PlaceOf(jobs, slot) : PlaceFactors{};
  if (const GpuSlowness* const slowness = scenario_.cluster().slowness()) {
    place.slowest = slowness->SlowestOf(jobs.FactsOf(jobs.RowIn(slot)).table->slowness_class(),
                                        jobs.observation.shares_of(jobs.running_rows[slot]));
  }
  return place;
}

double JobWalks::LastRate(const Observation& o, std::size_t row) const {
  double done = o.done_work[row];
  const JobProcess::Segment segment = SegmentAt(o, row, &done);
  return segment.until == kNever ? std::max(0.0, segment.rate) : 0;
}

Seconds JobWalks::EndFrom(const Observation& o, std::size_t row, Seconds time) const {
  const double work = scenario_.facts(o.job[row]).work;
  double done = o.done_work[row];
  Seconds end = time;
  while (done < work) {
    const JobProcess::Segment segment = SegmentAt(o, row, &done);
    if (!(segment.rate > 0)) return kNever;
    const double next = std::min(segment.until, work);
    end += std::max(0.0, next - done) / segment.rate;
    done = next;
  }
  return end;
}

JobProcess::Segment JobWalks::SegmentAt(const Observation& o, std::size_t row, double* done) const {
  const Scenario::JobFacts& facts = scenario_.facts(o.job[row]);
  JobWalk& walk = walks_[At(o.job[row])];
  const auto at = [&](double work) {
    if (!(walk.from <= work && work < walk.segment.until)) {
      const JobProcess::Placed placed{*facts.table, o.running[row],
                                      o.shares_of(static_cast<std::int32_t>(row)),
                                      walk.begun.place};
      walk.from = work;
      walk.segment = facts.process()->SegmentAt(placed, work);
    }
    return walk.segment;
  };
  JobProcess::Segment segment = at(*done);
  if (segment.until < kNever && segment.until - *done <= kWorkRounding * segment.until) {
    *done = segment.until;
    segment = at(*done);
  }
  segment.rate *=
      scenario_.options().speedup *
      scenario_.CheckpointsOn(o.shares_of(static_cast<std::int32_t>(row)).size()).progress();
  return segment;
}

double JobWalks::DoneAfter(const Observation& o, std::size_t row, double done,
                           Seconds worked) const {
  const double work = scenario_.facts(o.job[row]).work;
  while (worked > 0 && done < work) {
    const JobProcess::Segment segment = SegmentAt(o, row, &done);
    if (!(segment.rate > 0)) break;
    const Seconds to_its_end = (segment.until - done) / segment.rate;
    if (to_its_end > worked) {
      done += segment.rate * worked;
      break;
    }
    done = segment.until;
    worked -= to_its_end;
  }
  return std::min(work, done);
}

double JobWalks::DoneSinceBegin(const Observation& o, std::size_t row, Seconds worked) const {
  JobWalk& walk = walks_[At(o.job[row])];
  if (walk.begun.worked <= worked || walk.earlier.empty()) {
    return DoneAfter(o, row, walk.begun.done, worked - walk.begun.worked);
  }
  // Segments of an earlier place are asked for anew.
  const auto after = std::find_if(walk.earlier.begin() + 1, walk.earlier.end(),
                                  [worked](const Mark& mark) { return mark.worked > worked; });
  const Mark mark = *std::prev(after);
  const JobWalk now = std::exchange(walk, {.begun = mark});
  const double done = DoneAfter(o, row, mark.done, worked - mark.worked);
  walk = now;
  return done;
}

}  // namespace allot
