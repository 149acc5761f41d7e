#include "agents/training/logged_workload.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

// What a job held since the last decision that changed it.
struct Held {
  std::int32_t configuration = -1;
  std::vector<NodeShare> shares;
  Seconds ready = 0;  // progress counts from here
  bool launched = false;
  double work = 0;  // done so far
};

void Advance(const Scenario& scenario, JobIndex job, Seconds from, Seconds to, Held* held) {
  if (held->configuration < 0) return;
  const double rate = (*scenario.facts(job).table)[held->configuration].rate;
  held->work += std::max(0.0, rate) * std::max(0.0, to - std::max(from, held->ready));
}

void Give(const Scenario& scenario, const Allocation& allocation, const Allocation::Entry& entry,
          Seconds now, Held* held) {
  const auto shares = allocation.shares(entry);
  const bool same =
      held->configuration == entry.configuration && !entry.relaunch &&
      std::equal(shares.begin(), shares.end(), held->shares.begin(), held->shares.end());
  if (same) return;
  const SimOptions& rules = scenario.options();
  held->ready = now + (held->launched ? rules.restart_cost : 0.0) +
                (held->configuration < 0 ? rules.launch_cost : 0.0);
  held->configuration = entry.configuration;
  held->shares.assign(shares.begin(), shares.end());
  held->launched = true;
}

MeasuredWorkload Finished(MeasuredWorkload measured, const std::string& where) {
  if (measured.workload.jobs.empty()) {
    throw DataError("{}: 'result/finish' must have a time for at least one job, none of {} ended",
                    where, measured.unfinished);
  }
  measured.workload.Finish();
  return measured;
}

}  // namespace

MeasuredWorkload MeasureWorkload(const Scenario& scenario, const DecisionLog& log,
                                 std::span<const Seconds> finish, const std::string& where) {
  const std::vector<Job>& jobs = scenario.workload().jobs;
  std::vector<Held> held(jobs.size());
  std::vector<JobIndex> running;
  std::vector<char> listed(jobs.size(), 0);
  for (std::size_t d = 0; d < log.times.size(); ++d) {
    const Allocation& allocation = log.allocations[d];
    const Seconds now = log.times[d];
    for (const Allocation::Entry& entry : allocation.entries()) {
      Give(scenario, allocation, entry, now, &held[At(entry.job)]);
      listed[At(entry.job)] = 1;
    }
    for (const JobIndex job : running) {
      if (listed[At(job)] == 0) held[At(job)].configuration = -1;  // preempted, or ended
    }
    running.clear();
    const Seconds next = d + 1 < log.times.size() ? log.times[d + 1] : kNever;
    for (const Allocation::Entry& entry : allocation.entries()) {
      running.push_back(entry.job);
      listed[At(entry.job)] = 0;
      const Seconds end = finish[At(entry.job)];
      if (std::isfinite(end)) {
        Advance(scenario, entry.job, now, std::min(next, end), &held[At(entry.job)]);
      }
    }
  }

  MeasuredWorkload measured;
  measured.workload = scenario.workload();
  measured.workload.jobs.clear();
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (!std::isfinite(finish[j])) {
      ++measured.unfinished;
      continue;
    }
    if (!(held[j].work > 0)) {
      throw DataError(
          "{}: job '{}' ended at {} s, but no decision before gave it anything to run on: its run "
          "time cannot be measured ('allocation/job', 'allocation/time', 'result/finish')",
          where, jobs[j].id, finish[j]);
    }
    const Scenario::JobFacts& facts = scenario.facts(static_cast<JobIndex>(j));
    Job job = jobs[j];
    job.work = 0;
    job.duration = held[j].work / (*facts.table)[facts.requested].rate;
    measured.workload.jobs.push_back(std::move(job));
  }
  return Finished(std::move(measured), where);
}

MeasuredWorkload MeasuredJobs(const Scenario& scenario, std::span<const Seconds> finish,
                              const std::string& where) {
  MeasuredWorkload measured;
  measured.workload = scenario.workload();
  std::size_t row = 0;
  measured.unfinished = std::erase_if(measured.workload.jobs,
                                      [&](const Job&) { return !std::isfinite(finish[row++]); });
  return Finished(std::move(measured), where);
}

}  // namespace allot
