#include "sim/simulated_jobs.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace allot {

SimulatedJobs::SimulatedJobs(const Scenario& its_scenario, Observation start)
    : scenario(its_scenario), observation(std::move(start)), next_arrival(observation.rows()) {
  const std::vector<Job>& jobs = scenario.workload().jobs;
  ALLOT_CHECK(observation.job.size() <= jobs.size());
  row_of_job.assign(jobs.size(), -1);
  for (std::size_t row = 0; row < observation.job.size(); ++row) {
    ALLOT_CHECK_EQ(At(observation.job[row]), row);
    row_of_job[row] = observation.job[row];
  }
  records.resize(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    records[i].job = static_cast<JobIndex>(i);
    records[i].submit = jobs[i].submit;
  }
}

std::int32_t SimulatedJobs::ConfigurationWithout(std::size_t row, NodeIndex node) const {
  const Observation& o = observation;
  if (!o.partner.empty() && o.partner[row] >= 0) return -1;  // it shares its GPUs
  const ConfigurationTable& table = *o.table[row];
  UnitCounts units;
  for (const NodeShare& share : o.shares_of(static_cast<std::int32_t>(row))) {
    if (share.node != node) units += share.units;
  }
  const std::int32_t rest = table.Find(units, table[o.running[row]].gpu_type);
  return rest >= 0 && table[rest].rate > 0 ? rest : -1;
}

std::size_t SimulatedJobs::SlotOf(JobIndex job) const {
  const auto slot = std::ranges::lower_bound(running_rows, row_of_job[At(job)]);
  return static_cast<std::size_t>(slot - running_rows.begin());
}

void SimulatedJobs::Run(std::int32_t row, const RunningJob& job) {
  running_rows.push_back(row);
  running.push_back(job);
  gpus_used += job.gpus;
}

void SimulatedJobs::ClearSlots() {
  running_rows.clear();
  running.clear();
  gpus_used = 0;
}

void SimulatedJobs::FindFirstFinish() {
  first_finish = kNever;
  for (const RunningJob& job : running) first_finish = std::min(first_finish, job.finish);
}

void SimulatedJobs::Erase(const std::vector<std::int32_t>& rows,
                          std::span<const std::size_t> slots) {
  Observation& o = observation;
  const std::size_t ended = rows.size();
  for (const std::int32_t row : rows) row_of_job[At(o.job[At(row)])] = -1;
  // Slots move up past those that ended, piece by piece between these.
  for (std::size_t e = 0; e < ended; ++e) {
    const std::size_t from = slots[e] + 1;
    const std::size_t until = e + 1 < ended ? slots[e + 1] : running.size();
    const auto to = static_cast<std::ptrdiff_t>(from - e - 1);
    std::copy(running.begin() + static_cast<std::ptrdiff_t>(from),
              running.begin() + static_cast<std::ptrdiff_t>(until), running.begin() + to);
    const auto gone = static_cast<std::int32_t>(e + 1);
    for (std::size_t slot = from; slot < until; ++slot) {
      running_rows[slot - e - 1] = running_rows[slot] - gone;
    }
  }
  running_rows.resize(running_rows.size() - ended);
  running.resize(running.size() - ended);

  // Rows move up in the same way.
  const std::size_t all_rows = o.job.size();
  const JobIndex* const job = o.job.data();
  std::int32_t* const new_row = row_of_job.data();
  std::int32_t* const share_begin = o.share_begin.data();
  std::int32_t kept_shares = share_begin[rows.front()];
  for (std::size_t e = 0; e < ended; ++e) {
    const std::size_t from = At(rows[e]) + 1;
    const std::size_t until = e + 1 < ended ? At(rows[e + 1]) : all_rows;
    const std::int32_t shift = share_begin[from] - kept_shares;
    const auto shares = o.shares.begin();
    std::move(shares + share_begin[from], shares + share_begin[until], shares + kept_shares);
    kept_shares = share_begin[until] - shift;
    for (std::size_t r = from; r < until; ++r) {
      share_begin[r - e - 1] = share_begin[r] - shift;
      new_row[job[r]] = static_cast<std::int32_t>(r - e - 1);
    }
  }
  o.share_begin.resize(all_rows - ended + 1);
  o.share_begin.back() = kept_shares;
  o.shares.resize(At(kept_shares));

  o.EraseRows(rows);
  o.events.EraseRows(rows);
  if (!o.partner.empty()) EraseRowsOf(rows, &o.partner);
  if (!o.places.empty()) EraseRowsOf(rows, &o.places);
}

}  // namespace allot
