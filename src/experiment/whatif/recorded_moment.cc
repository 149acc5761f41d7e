#include "experiment/whatif/recorded_moment.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/index.h"
#include "sched/stages.h"
#include "stages/fill/capacity.h"

namespace allot {
namespace {

Seconds StartOf(const Job& job) {
  const Seconds start = job.recorded_start();
  return std::isnan(start) && job.ended() ? job.submit : start;  // NaN: it waits
}

JobRow WaitingRow(const Scenario& scenario, JobIndex index) {
  const Job& job = scenario.workload().jobs[At(index)];
  const Scenario::JobFacts& facts = scenario.facts(index);
  return {.job = index,
          .submit = job.submit,
          .table = facts.table.get(),
          .requested = facts.requested,
          .estimated_work = facts.estimate,
          .restart_cost =
              scenario.RestartCostOf(index) + scenario.StateSecondsOf(index, -1, facts.requested),
          .waiting_since = job.submit,
          .priority = job.priority,
          .deadline = job.deadline,
          .tenant = job.tenant,
          .user = job.user,
          .group = job.group};
}

// The row of a job that has run in a configuration for so long.
JobRow RunningRow(JobRow row, std::int32_t configuration, Seconds ran) {
  const Configuration& held = (*row.table)[configuration];
  row.running = configuration;
  row.restart_cost += 2 * held.state_seconds - (*row.table)[row.requested].state_seconds;
  row.done_work = ran * held.rate;
  row.attained_seconds = ran;
  row.attained_gpu_seconds = ran * held.demand.gpus;
  row.changes = 1;
  return row;
}

EndedJob EndOf(const Scenario& scenario, JobIndex index) {
  const Job& job = scenario.workload().jobs[At(index)];
  Observation alone;
  alone.ClearJobs();
  const JobRow row = WaitingRow(scenario, index);
  alone.Append(RunningRow(row, row.requested, job.duration));
  return EndedAt(alone, 0, StartOf(job) + job.duration);
}

// Configurations as requested for these rows, in turn on the first of the job's types with room.
std::vector<Grant> GrantsFor(const Observation& o, const std::vector<std::int32_t>& rows) {
  TypeCapacity capacity;
  capacity.Reset(*o.cluster);
  std::vector<Grant> grants;
  for (const std::int32_t row : rows) {
    const ConfigurationTable& table = *o.table[At(row)];
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t wanted = table.OnType(o.requested[At(row)], type);
      if (wanted < 0 || !capacity.Fits(table[wanted])) continue;
      capacity.Take(table[wanted]);
      grants.push_back({row, wanted});
      break;
    }
  }
  return grants;
}

}  // namespace

RecordedMoment MomentOfRecord(const Scenario& scenario, Seconds at) {
  const Workload& workload = scenario.workload();
  RecordedMoment moment;
  Observation& o = moment.observation;
  o.now = at;
  o.interval = scenario.options().interval;
  o.cluster = &scenario.cluster();
  o.user_names = &workload.users.names();
  o.group_names = &workload.groups.names();
  o.ClearJobs();
  o.events.number = 1;
  Observation waiting = o;
  std::vector<std::int32_t> runners;
  for (std::size_t j = 0; j < workload.jobs.size() && workload.jobs[j].submit <= at; ++j) {
    const Job& job = workload.jobs[j];
    const auto index = static_cast<JobIndex>(j);
    const Seconds start = StartOf(job);
    if (job.ended() && start + job.duration <= at) {
      o.events.ended.push_back(EndOf(scenario, index));
      continue;
    }
    if (start <= at) runners.push_back(waiting.rows());
    waiting.Append(WaitingRow(scenario, index));
  }
  std::stable_sort(runners.begin(), runners.end(), [&](std::int32_t a, std::int32_t b) {
    return workload.jobs[At(waiting.job[At(a)])].gpus > workload.jobs[At(waiting.job[At(b)])].gpus;
  });
  Allocation allocation;
  MakeStage<Placement>("placement", "packed")
      ->Place(waiting, GrantsFor(waiting, runners), &allocation);
  std::vector<const Allocation::Entry*> entry_of(workload.jobs.size(), nullptr);
  for (const Allocation::Entry& entry : allocation.entries()) entry_of[At(entry.job)] = &entry;
  std::vector<bool> runs(waiting.job.size(), false);
  for (const std::int32_t row : runners) runs[At(row)] = true;
  for (std::int32_t row = 0; row < waiting.rows(); ++row) {
    const JobIndex index = waiting.job[At(row)];
    const Job& job = workload.jobs[At(index)];
    const Allocation::Entry* const entry = entry_of[At(index)];
    if (!runs[At(row)]) {
      o.Append(waiting.Row(row));
    } else if (entry == nullptr) {
      ++moment.without_room;
      moment.gpus_without_room += job.gpus;
    } else {
      o.Append(RunningRow(waiting.Row(row), entry->configuration, at - StartOf(job)),
               allocation.shares(*entry));
    }
  }
  o.events.arrived.resize(o.job.size());
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    o.events.arrived[r] = static_cast<std::int32_t>(r);
  }
  return moment;
}

}  // namespace allot
