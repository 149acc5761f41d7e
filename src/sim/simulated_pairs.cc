// Jobs of SimulatedCluster that share GPUs with a partner.

#include <algorithm>
#include <cmath>

#include "core/index.h"
#include "sim/simulated_cluster.h"

namespace allot {

// `allocation`: of who got something, at least. Who is stopped has no partner any more.
void SimulatedCluster::FollowPartners(const Allocation& allocation) {
  Observation& o = observation_;
  o.partner.resize(o.job.size(), kAlone);
  for (const Allocation::Entry& entry : allocation.entries()) {
    o.partner[At(row_of_job_[At(entry.job)])] = entry.partner;
  }
  PartFromPartners();
}

void SimulatedCluster::PartFromPartners() {
  Observation& o = observation_;
  for (std::size_t row = 0; row < o.partner.size(); ++row) {
    const JobIndex partner = o.partner[row];
    if (partner == kAlone) continue;
    const std::int32_t other = row_of_job_[At(partner)];
    const bool together = o.running[row] >= 0 && other >= 0 && o.running[At(other)] >= 0 &&
                          o.partner[At(other)] == o.job[row];
    if (!together) o.partner[row] = kAlone;
  }
  gpus_used_ = 0;
  for (std::size_t slot = 0; slot < runs_.size(); ++slot) {
    const std::size_t row = At(running_rows_[slot]);
    const Configuration& held = (*scenario_.facts(o.job[row]).table)[o.running[row]];
    runs_[slot].gpus = held.demand.gpus * (o.partner[row] == kAlone ? 1.0 : 0.5);
    gpus_used_ += runs_[slot].gpus;
  }
}

// A job whose partner has ended before `time` held the other half of their GPUs from then on too.
void SimulatedCluster::ChargeSurvivors(Seconds time) {
  Observation& o = observation_;
  for (std::size_t slot = 0; slot < runs_.size(); ++slot) {
    const std::size_t row = At(running_rows_[slot]);
    const JobIndex partner = o.partner[row];
    if (partner == kAlone) continue;
    const Seconds end = std::min(records_[At(o.job[row])].finish, time);
    const Seconds alone = end - records_[At(partner)].finish;  // kNever: it has not
    if (!(alone > 0)) continue;
    const double more = alone * runs_[slot].gpus;
    o.attained_gpu_seconds[row] += more;
    step_.gpu_seconds += more;
    if (end < time) records_[At(o.job[row])].gpu_seconds += more;
  }
}

// GPUs that come free as this job ends: of a pair's, when the second of them does.
GpuCount SimulatedCluster::ComesFree(std::size_t slot) const {
  const Observation& o = observation_;
  const std::int32_t row = running_rows_[slot];
  const JobIndex partner = o.partner_of(row);
  if (partner == kAlone) return static_cast<GpuCount>(std::lround(runs_[slot].gpus));
  const Seconds other = records_[At(partner)].finish;  // kNever: it runs on
  const Seconds end = runs_[slot].finish;
  const bool second = other < end || (other == end && partner < o.job[At(row)]);
  return second ? static_cast<GpuCount>(std::lround(2 * runs_[slot].gpus)) : 0;
}

GpuCount SimulatedCluster::GpusUsed() const {
  return static_cast<GpuCount>(std::lround(gpus_used_));
}

}  // namespace allot
