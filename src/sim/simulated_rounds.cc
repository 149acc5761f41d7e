// Whole rounds of SimulatedCluster: what each job does in one, and how it ends.

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/index.h"
#include "sim/simulated_cluster.h"

namespace allot {

void SimulatedCluster::PlanRound() {
  const Observation& o = observation_;
  const Seconds round = o.interval;
  for (std::size_t slot = 0; slot < runs_.size(); ++slot) {
    Run& run = runs_[slot];
    const std::size_t row = At(running_rows_[slot]);
    const Seconds restart = std::max(0.0, run.ready - o.now);
    const double left = run.work - o.done_work[row];
    run.round_work = std::min(std::floor(run.rate * std::max(0.0, round - restart)), left);
    // Less than a unit of work takes no time, and fails below.
    const Seconds begin = restart > 0 ? run.ready : o.now;
    run.round_end = run.round_work > 0 ? begin + run.round_work / run.rate : o.now;
  }
  const auto fails = [&](std::size_t slot) {
    const std::size_t row = At(running_rows_[slot]);
    const GpuCount gpus = (*scenario_.facts(o.job[row]).table)[o.running[row]].demand.gpus;
    const double part =
        gpus > 1 ? std::floor(runs_[slot].round_work / gpus) : runs_[slot].round_work;
    return !(part > 0);
  };
  first_finish_ = kNever;
  for (std::size_t slot = 0; slot < runs_.size(); ++slot) {
    Run& run = runs_[slot];
    const std::size_t row = At(running_rows_[slot]);
    const JobIndex partner = o.partner_of(running_rows_[slot]);
    if (partner != kAlone && partner < o.job[row]) continue;  // done with the other
    Run* other = nullptr;
    bool failed = fails(slot);
    if (partner != kAlone) {
      const auto at =
          std::lower_bound(running_rows_.begin(), running_rows_.end(), row_of_job_[At(partner)]);
      const auto other_slot = static_cast<std::size_t>(at - running_rows_.begin());
      other = &runs_[other_slot];
      failed = failed || fails(other_slot);
      run.round_end = other->round_end = std::max(run.round_end, other->round_end);
    }
    const auto settle = [&](Run* each, std::int32_t its_row) {
      if (failed) each->round_work = 0;
      const bool ends = !failed && o.done_work[At(its_row)] + each->round_work >= each->work;
      each->finish = ends ? each->round_end : kNever;
      first_finish_ = std::min(first_finish_, each->finish);
    };
    settle(&run, running_rows_[slot]);
    if (other != nullptr) settle(other, row_of_job_[At(partner)]);
  }
}

void SimulatedCluster::PassRound() {
  if (applied_decision_ != observation_.decision) PlanRound();
  const bool works =
      std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.round_work > 0; });
  if (observation_.rows() > 0) CheckNotStuck(works ? observation_.now : NextEvent(), 0);
  if (runs_.empty()) {
    // Nothing but an arrival can change that; without one the same moment is decided on again.
    const bool more = At(next_arrival_) < records_.size();
    return AdvanceTo(more ? records_[At(next_arrival_)].submit : observation_.now);
  }
  Seconds end = observation_.now;
  for (const Run& run : runs_) end = std::max(end, run.round_end);
  NoteBusyGpus();
  CountFailures(end);
  round_end_ = end;
  AdvanceTo(end);
  ForgetDropped();
}

// Who has failed too often goes at the end of the round, as it is.
void SimulatedCluster::CountFailures(Seconds end) {
  const Observation& o = observation_;
  for (std::size_t slot = 0; slot < runs_.size(); ++slot) {
    Run& run = runs_[slot];
    const std::size_t row = At(running_rows_[slot]);
    std::int32_t& failures = failures_[At(o.job[row])];
    if (run.round_work > 0) {
      failures = 0;
    } else if (o.partner_of(running_rows_[slot]) == kAlone) {
      ++failures;
      if (failures != scenario_.options().most_failures) continue;
      run.work = o.done_work[row];
      run.finish = end;
      dropped_.push_back(o.job[row]);
    }
  }
}

void SimulatedCluster::ForgetDropped() {
  for (const JobIndex job : dropped_) {
    records_[At(job)].finish = kNever;
    --step_.finished;
  }
  dropped_.clear();
}

void SimulatedCluster::NoteBusyGpus() {
  const Observation& o = observation_;
  if (busy_seconds_.empty()) {
    std::size_t gpus = 0;
    for (const Node& node : o.cluster->nodes()) {
      first_gpu_.push_back(gpus);
      gpus += At(node.capacity.gpus);
    }
    busy_seconds_.assign(gpus, 0);
  }
  Seconds begin = o.now;
  if (scenario_.options().busy_gaps) begin = round_end_ == kNever ? 0 : round_end_;
  for (std::size_t slot = 0; slot < runs_.size(); ++slot) {
    const std::int32_t row = running_rows_[slot];
    const JobIndex partner = o.partner_of(row);
    if (runs_[slot].round_work == 0 || (partner != kAlone && partner < o.job[At(row)])) continue;
    const Seconds took = runs_[slot].round_end - begin;
    for (const NodeShare& share : o.shares_of(row)) {
      for (std::uint64_t gpus = share.gpus; gpus != 0; gpus &= gpus - 1) {
        busy_seconds_[first_gpu_[At(share.node)] + At(std::countr_zero(gpus))] += took;
      }
    }
  }
}

}  // namespace allot
