#include "sim/gpu_pairs.h"

#include <algorithm>
#include <cmath>

#include "core/index.h"

namespace allot {

void FollowPartners(const Allocation& allocation, SimulatedJobs* jobs) {
  std::vector<JobIndex>& partner = jobs->observation.partner;
  partner.resize(jobs->observation.job.size(), kAlone);
  for (const Allocation::Entry& entry : allocation.entries()) {
    partner[At(jobs->row_of_job[At(entry.job)])] = entry.partner;
  }
  PartFromPartners(jobs);
}

void PartFromPartners(SimulatedJobs* jobs) {
  Observation& o = jobs->observation;
  for (std::size_t row = 0; row < o.partner.size(); ++row) {
    const JobIndex partner = o.partner[row];
    if (partner == kAlone) continue;
    const std::int32_t other = jobs->row_of_job[At(partner)];
    const bool together = o.running[row] >= 0 && other >= 0 && o.running[At(other)] >= 0 &&
                          o.partner[At(other)] == o.job[row];
    if (!together) o.partner[row] = kAlone;
  }
  jobs->gpus_used = 0;
  for (std::size_t slot = 0; slot < jobs->running.size(); ++slot) {
    const std::size_t row = jobs->RowIn(slot);
    RunningJob& job = jobs->running[slot];
    job.gpus = jobs->TrueConfiguration(row).demand.gpus * (o.partner[row] == kAlone ? 1.0 : 0.5);
    jobs->gpus_used += job.gpus;
  }
}

void ChargeSurvivors(Seconds time, SimulatedJobs* jobs, double* gpu_seconds) {
  Observation& o = jobs->observation;
  for (std::size_t slot = 0; slot < jobs->running.size(); ++slot) {
    const std::size_t row = jobs->RowIn(slot);
    const JobIndex partner = o.partner[row];
    if (partner == kAlone) continue;
    JobRecord& record = jobs->records[At(o.job[row])];
    const Seconds end = std::min(record.finish, time);
    const Seconds alone = end - jobs->records[At(partner)].finish;  // kNever: it has not ended
    if (!(alone > 0)) continue;
    const double more = alone * jobs->running[slot].gpus;
    o.attained_gpu_seconds[row] += more;
    *gpu_seconds += more;
    if (end < time) record.gpu_seconds += more;
  }
}

GpuCount GpusFreed(const SimulatedJobs& jobs, std::size_t slot) {
  const RunningJob& job = jobs.running[slot];
  const JobIndex partner = jobs.observation.partner_of(jobs.running_rows[slot]);
  if (partner == kAlone) return static_cast<GpuCount>(std::lround(job.gpus));
  const Seconds other = jobs.records[At(partner)].finish;  // kNever: it runs on
  const bool second = other < job.finish || (other == job.finish && partner < jobs.JobIn(slot));
  return second ? static_cast<GpuCount>(std::lround(2 * job.gpus)) : 0;
}

}  // namespace allot
