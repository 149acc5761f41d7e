// How time passes in SimulatedCluster: jobs progress, end, and arrive.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/index.h"
#include "sim/simulated_cluster.h"

namespace allot {
namespace {

// Ends that differ from a moment by rounding alone lie in that moment: 0.1 + 0.2 is no later than
// 0.3. Relative to the time itself, far above the rounding of sums of many terms and far below what
// anybody measures (32 us in a year).
constexpr double kEndSlack = 1e-12;

}  // namespace

void SimulatedCluster::PassTo(Seconds time) {
  Observation& o = observation_;
  const Seconds before = o.now;
  if (!training_.empty()) StepTraining(time);
  step_.elapsed += time - before;
  // Sums go by row, so that they do not depend on who runs.
  std::size_t next = 0;
  double job_seconds = step_.job_seconds;
  double slowdown_seconds = step_.slowdown_seconds;
  const auto count = [&](Seconds in_system) {
    job_seconds += in_system;
    slowdown_seconds += in_system * inverse_duration_[At(o.job[next++])];
  };
  ended_rows_.clear();
  ended_slots_.clear();
  // What is written below would make the compiler look up members again and again.
  double* const done_work = o.done_work.data();
  Seconds* const attained_seconds = o.attained_seconds.data();
  double* const attained_gpu_seconds = o.attained_gpu_seconds.data();
  Seconds* const waiting_since = o.waiting_since.data();
  const std::int32_t* const rows = running_rows_.data();
  const Run* const runs = runs_.data();
  const std::size_t slots = runs_.size();
  const bool sums = sums_;
  const bool walks = !walks_.empty();
  const bool whole = scenario_.options().whole_rounds;
  const bool plain = !sums && !walks && !whole;
  double gpu_seconds = step_.gpu_seconds;
  Seconds first_finish = kNever;
  const Seconds ended_by = time + kEndSlack * time;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    // Most go on, and nobody asks for sums: the same as below without calls, all in registers.
    const Seconds elapsed = time - before;
    for (; plain && slot < slots && runs[slot].finish > ended_by; ++slot) {
      const std::size_t r = At(rows[slot]);
      const Run& run = runs[slot];
      const Seconds begin = before < run.ready ? run.ready : before;
      const Seconds worked = begin < time ? time - begin : 0.0;
      const double done = done_work[r] + run.rate * worked;
      done_work[r] = done < run.work ? done : run.work;
      const double held = elapsed * run.gpus;
      attained_seconds[r] += elapsed;
      attained_gpu_seconds[r] += held;
      gpu_seconds += held;
      waiting_since[r] = time;
      first_finish = run.finish < first_finish ? run.finish : first_finish;
    }
    if (slot == slots) break;
    const std::size_t r = At(rows[slot]);
    Run& run = runs_[slot];
    const bool ends = run.finish <= ended_by;
    if (ends) run.finish = std::min(run.finish, time);
    const Seconds in_system = (ends ? run.finish : time) - before;
    if (sums) {
      while (next < r) count(time - before);
      count(in_system);
    }
    // Step by step, so that jobs of equal history stay exactly equal.
    const Seconds worked = std::max(0.0, time - std::max(before, run.ready));
    const double done = ends    ? run.work
                        : walks ? Walk(r, done_work[r], worked)
                        : whole ? done_work[r] + run.round_work
                                : std::min(run.work, done_work[r] + run.rate * worked);
    if (sums) step_.progress += std::max(0.0, done - done_work[r]) / run.work;
    done_work[r] = done;
    attained_seconds[r] += in_system;
    attained_gpu_seconds[r] += in_system * run.gpus;
    gpu_seconds += in_system * run.gpus;
    if (ends) {
      JobRecord& record = records_[At(o.job[r])];
      record.finish = run.finish;
      record.gpu_seconds = attained_gpu_seconds[r];
      ++step_.finished;
      gpus_used_ -= run.gpus;
      o.events.ended.push_back(EndedAt(o, rows[slot], run.finish));
      ended_rows_.push_back(rows[slot]);
      ended_slots_.push_back(slot);
    } else {
      waiting_since[r] = time;
      first_finish = std::min(first_finish, run.finish);
    }
  }
  step_.gpu_seconds = gpu_seconds;
  first_finish_ = first_finish;
  while (sums_ && next < o.job.size()) count(time - before);
  step_.job_seconds = job_seconds;
  step_.slowdown_seconds = slowdown_seconds;
  o.now = time;
  if (!ended_rows_.empty()) {
    last_event_ = time;
    if (!o.partner.empty()) ChargeSurvivors(time);
    NoteCompletions();
    RemoveEndedRows();
  }
  Admit(time);
}

void SimulatedCluster::RemoveEndedRows() {
  Observation& o = observation_;
  const std::size_t ended = ended_rows_.size();
  for (std::size_t e = 0; e < ended; ++e) {
    const std::int32_t row = ended_rows_[e];
    holdings_.Release(o, row);
    row_of_job_[At(o.job[At(row)])] = -1;
    if (!measured_at_.empty())
      MeasureRate(ended_slots_[e], runs_[ended_slots_[e]].finish);  // one last time
    if (belief_ != nullptr) belief_->Forget(o.job[At(row)]);
  }
  // Slots move up past those that ended, piece by piece between these.
  for (std::size_t e = 0; e < ended; ++e) {
    const std::size_t from = ended_slots_[e] + 1;
    const std::size_t until = e + 1 < ended ? ended_slots_[e + 1] : runs_.size();
    const auto to = static_cast<std::ptrdiff_t>(from - e - 1);
    std::copy(runs_.begin() + static_cast<std::ptrdiff_t>(from),
              runs_.begin() + static_cast<std::ptrdiff_t>(until), runs_.begin() + to);
    const auto gone = static_cast<std::int32_t>(e + 1);
    for (std::size_t slot = from; slot < until; ++slot) {
      running_rows_[slot - e - 1] = running_rows_[slot] - gone;
    }
  }
  running_rows_.resize(running_rows_.size() - ended);
  runs_.resize(runs_.size() - ended);

  // Rows move up past those that ended, piece by piece between these.
  const std::size_t rows = o.job.size();
  const JobIndex* const job = o.job.data();
  std::int32_t* const row_of_job = row_of_job_.data();
  std::int32_t* const share_begin = o.share_begin.data();
  std::int32_t kept_shares = share_begin[ended_rows_.front()];
  for (std::size_t e = 0; e < ended; ++e) {
    const std::size_t from = At(ended_rows_[e]) + 1;
    const std::size_t until = e + 1 < ended ? At(ended_rows_[e + 1]) : rows;
    const std::int32_t shift = share_begin[from] - kept_shares;
    const auto shares = o.shares.begin();
    std::move(shares + share_begin[from], shares + share_begin[until], shares + kept_shares);
    kept_shares = share_begin[until] - shift;
    for (std::size_t r = from; r < until; ++r) {
      share_begin[r - e - 1] = share_begin[r] - shift;
      row_of_job[job[r]] = static_cast<std::int32_t>(r - e - 1);
    }
  }
  o.share_begin.resize(rows - ended + 1);
  o.share_begin.back() = kept_shares;
  o.shares.resize(At(kept_shares));

  o.EraseRows(ended_rows_);
  o.events.EraseRows(ended_rows_);
  if (!o.partner.empty()) {
    EraseRowsOf(ended_rows_, &o.partner);
    PartFromPartners();
  }
}

void SimulatedCluster::Admit(Seconds until) {
  Observation& o = observation_;
  const std::vector<Job>& jobs = scenario_.workload().jobs;
  while (At(next_arrival_) < jobs.size() && jobs[At(next_arrival_)].submit <= until) {
    const Job& job = jobs[At(next_arrival_)];
    const Scenario::JobFacts& facts = scenario_.facts(next_arrival_);
    row_of_job_[At(next_arrival_)] = o.rows();
    o.events.arrived.push_back(o.rows());
    o.Append({.job = next_arrival_,
              .submit = job.submit,
              .table = facts.table.get(),
              .requested = facts.requested,
              .estimated_work = facts.estimate,
              .restart_cost = scenario_.RestartCostOf(next_arrival_),
              .waiting_since = job.submit,
              .priority = job.priority,
              .deadline = job.deadline,
              .tenant = job.tenant,
              .user = job.user,
              .group = job.group});
    if (belief_ != nullptr && shows_rates_) ShowTable(o.job.size() - 1);
    if (sums_) {
      inverse_duration_.push_back(1.0 / job.duration);
      step_.job_seconds += until - job.submit;
      step_.slowdown_seconds += (until - job.submit) * inverse_duration_.back();
    }
    ++step_.arrived;
    last_event_ = until;
    ++next_arrival_;
  }
}

}  // namespace allot
