#include "sim/whole_rounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace allot {

WholeRounds::WholeRounds(const Scenario& scenario)
    : options_(scenario.options()), failures_(scenario.workload().jobs.size(), 0) {}

void WholeRounds::Plan(SimulatedJobs* jobs) {
  const Observation& o = jobs->observation;
  const Seconds round = options_.interval;
  const std::size_t slots = jobs->running.size();
  parts_.assign(slots, {});
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const RunningJob& run = jobs->running[slot];
    const std::size_t row = jobs->RowIn(slot);
    const Seconds restart = std::max(0.0, run.ready - o.now);
    const double left = run.work - o.done_work[row];
    Part& part = parts_[slot];
    part.work = std::min(std::floor(run.rate * std::max(0.0, round - restart)), left);
    // Less than a unit of work takes no time, and fails.
    const Seconds begin = restart > 0 ? run.ready : o.now;
    part.end = part.work > 0 ? begin + part.work / run.rate : o.now;
    const GpuCount gpus = jobs->TrueConfiguration(row).demand.gpus;
    part.fails = !((gpus > 1 ? std::floor(part.work / gpus) : part.work) > 0);
  }
  jobs->first_finish = kNever;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const JobIndex partner = o.partner_of(jobs->running_rows[slot]);
    if (partner != kAlone && partner < jobs->JobIn(slot)) continue;  // done with the other
    std::size_t other = slot;
    if (partner != kAlone) {
      const auto at = std::lower_bound(jobs->running_rows.begin(), jobs->running_rows.end(),
                                       jobs->row_of_job[At(partner)]);
      other = static_cast<std::size_t>(at - jobs->running_rows.begin());
    }
    const bool both_fail = parts_[slot].fails || parts_[other].fails;
    const Seconds end = std::max(parts_[slot].end, parts_[other].end);
    for (const std::size_t each : {slot, other}) {
      Part& part = parts_[each];
      part = {both_fail ? 0 : part.work, end, both_fail};
      RunningJob& run = jobs->running[each];
      const bool ends = !both_fail && o.done_work[jobs->RowIn(each)] + part.work >= run.work;
      run.finish = ends ? end : kNever;
      jobs->first_finish = std::min(jobs->first_finish, run.finish);
    }
  }
}

bool WholeRounds::anyone_works() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.work > 0; });
}

Seconds WholeRounds::Begin(SimulatedJobs* jobs) {
  Seconds end = jobs->observation.now;
  for (const Part& part : parts_) end = std::max(end, part.end);
  CountBusyGpus(*jobs);
  CountFailures(end, jobs);
  last_end_ = end;
  return end;
}

void WholeRounds::CountFailures(Seconds end, SimulatedJobs* jobs) {
  const Observation& o = jobs->observation;
  for (std::size_t slot = 0; slot < parts_.size(); ++slot) {
    std::int32_t& failures = failures_[At(jobs->JobIn(slot))];
    if (parts_[slot].work > 0) {
      failures = 0;
    } else if (o.partner_of(jobs->running_rows[slot]) == kAlone) {
      ++failures;
      if (failures != options_.most_failures) continue;
      RunningJob& run = jobs->running[slot];
      run.work = o.done_work[jobs->RowIn(slot)];
      run.finish = end;
      dropped_.push_back(jobs->JobIn(slot));
    }
  }
}

std::vector<JobIndex> WholeRounds::TakeDropped() { return std::exchange(dropped_, {}); }

void WholeRounds::CountBusyGpus(const SimulatedJobs& jobs) {
  const Observation& o = jobs.observation;
  if (busy_seconds_.empty()) {
    std::size_t gpus = 0;
    for (const Node& node : o.cluster->nodes()) {
      first_gpu_.push_back(gpus);
      gpus += At(node.capacity.gpus);
    }
    busy_seconds_.assign(gpus, 0);
  }
  Seconds begin = o.now;
  if (options_.busy_gaps) begin = last_end_ == kNever ? 0 : last_end_;
  for (std::size_t slot = 0; slot < parts_.size(); ++slot) {
    const std::int32_t row = jobs.running_rows[slot];
    const JobIndex partner = o.partner_of(row);
    if (parts_[slot].work == 0 || (partner != kAlone && partner < o.job[At(row)])) continue;
    const Seconds took = parts_[slot].end - begin;
    for (const NodeShare& share : o.shares_of(row)) {
      for (std::uint64_t gpus = share.gpus; gpus != 0; gpus &= gpus - 1) {
        busy_seconds_[first_gpu_[At(share.node)] + At(std::countr_zero(gpus))] += took;
      }
    }
  }
}

}  // namespace allot
