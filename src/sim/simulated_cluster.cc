#include "sim/simulated_cluster.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/validate.h"
#include "core/check.h"
#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

// A time-driven policy that leaves an idle cluster idle for this many decisions has lost its jobs.
constexpr std::int64_t kStuckAfter = 100'000;

// A job whose exact end is a scheduled instant ends there, whatever the rounding: in intervals.
constexpr double kBoundarySlack = 1e-9;

}  // namespace

SimulatedCluster::SimulatedCluster(const Scenario& scenario) : scenario_(scenario) {
  const std::size_t jobs = scenario.workload().jobs.size();
  row_of_job_.assign(jobs, -1);
  records_.resize(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    records_[i].job = static_cast<JobIndex>(i);
    records_[i].submit = scenario.workload().jobs[i].submit;
  }
  observation_.cluster = &scenario.cluster();
  if (!scenario.node_events().empty()) {
    present_ = std::make_unique<ClusterSpec>(scenario.cluster());
    observation_.cluster = present_.get();
    JoinLater();
  }
  observation_.interval = scenario.options().interval;
  observation_.share_begin.assign(1, 0);
  AdvanceTo(NextTick(scenario.workload().jobs.front().submit));
}

SimulatedCluster::SimulatedCluster(const Scenario& scenario, const Observation& start)
    : scenario_(scenario), observation_(start) {
  const std::size_t jobs = scenario.workload().jobs.size();
  ALLOT_CHECK_EQ(start.job.size(), jobs);
  Observation& o = observation_;
  ALLOT_CHECK(scenario.node_events().empty());
  o.cluster = &scenario.cluster();
  o.decision = 0;
  row_of_job_.resize(jobs);
  records_.resize(jobs);
  progress_.resize(jobs);
  next_arrival_ = static_cast<JobIndex>(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    ALLOT_CHECK_EQ(At(o.job[i]), i);
    row_of_job_[i] = o.job[i];
    records_[i].job = o.job[i];
    records_[i].submit = o.submit[i];
    Progress& p = progress_[i];
    p.work = scenario.facts(o.job[i]).work;
    p.inverse_duration = 1.0 / scenario.workload().jobs[i].duration;
    if (o.running[i] < 0) continue;
    const Configuration& configuration = (*o.table[i])[o.running[i]];
    p.ready = o.now;
    p.rate = configuration.rate * scenario.options().speedup;
    p.gpus = configuration.demand.gpus;
    p.finish = FinishOf(p, o.done_work[i]);
    ++running_;
    gpus_used_ += p.gpus;
  }
}

Seconds SimulatedCluster::NextTick(Seconds time) const {
  return scenario_.options().decide_on_events ? time : NextInterval(time);
}

Seconds SimulatedCluster::NextInterval(Seconds time) const {
  const Seconds interval = scenario_.options().interval;
  const Seconds tick = std::ceil(time / interval) * interval;
  return tick >= time ? tick : tick + interval;
}

Seconds SimulatedCluster::NextEvent() const {
  const Seconds event = NextJobEvent();
  const std::vector<NodeEvent>& nodes = scenario_.node_events();
  if (observation_.rows() == 0 || next_node_event_ == nodes.size()) return event;
  return std::min(event, nodes[next_node_event_].time);
}

Seconds SimulatedCluster::NextJobEvent() const {
  Seconds event = kNever;
  if (At(next_arrival_) < records_.size()) event = records_[At(next_arrival_)].submit;
  for (const Progress& progress : progress_) event = std::min(event, progress.finish);
  return event;
}

Seconds SimulatedCluster::FinishOf(const Progress& p, double done) const {
  if (!(p.rate > 0)) return kNever;
  const Seconds exact = p.ready + std::max(0.0, p.work - done) / p.rate;
  if (!scenario_.options().charge_whole_intervals) return exact;
  return NextInterval(std::max(p.ready, exact - kBoundarySlack * observation_.interval));
}

void SimulatedCluster::CheckNotStuck() {
  idle_decisions_ = running_ > 0 ? 0 : idle_decisions_ + 1;
  if (idle_decisions_ > kStuckAfter) {
    throw RunError("{} jobs wait on an idle cluster for {} decisions in a row (time {} s)",
                   observation_.rows(), idle_decisions_, observation_.now);
  }
}

bool SimulatedCluster::WaitForChange(Seconds holds_until) {
  // The first step also holds what came before the first decision, so that sums are complete.
  if (observation_.decision > 0) step_ = StepFacts{};
  const bool empty = observation_.rows() == 0;
  const Seconds event = NextEvent();
  if (empty && event == kNever) return false;

  const Seconds next_interval =
      (std::floor(observation_.now / observation_.interval) + 1) * observation_.interval;
  const bool on_events = scenario_.options().decide_on_events;
  const Seconds next_event = on_events ? event : std::max(NextTick(event), next_interval);
  if (empty) {
    AdvanceTo(next_event);
  } else {
    if (event == kNever && holds_until == kNever) {
      throw RunError("{} jobs wait on an idle cluster and nothing will change that (time {} s)",
                     observation_.rows(), observation_.now);
    }
    CheckNotStuck();
    AdvanceTo(std::min(next_event, std::max(NextInterval(holds_until), next_interval)));
  }
  ++observation_.decision;
  return observation_.rows() > 0 || NextJobEvent() != kNever;
}

void SimulatedCluster::AdvanceTo(Seconds time) {
  const std::vector<NodeEvent>& nodes = scenario_.node_events();
  for (; next_node_event_ < nodes.size() && nodes[next_node_event_].time <= time;
       ++next_node_event_) {
    const NodeEvent& event = nodes[next_node_event_];
    if (event.time > observation_.now) PassTo(event.time);
    Apply(event);
  }
  PassTo(time);
}

void SimulatedCluster::JoinLater() {
  std::vector<bool> seen(present_->nodes().size(), false);
  for (const NodeEvent& event : scenario_.options().node_events) {
    if (event.up && !seen[At(event.node)]) present_->SetCapacity(event.node, {});
    seen[At(event.node)] = true;
  }
}

void SimulatedCluster::Apply(const NodeEvent& event) {
  if (!event.up) StopJobsOn(event.node);
  present_->SetCapacity(
      event.node, event.up ? scenario_.cluster().nodes()[At(event.node)].capacity : Resources{});
}

void SimulatedCluster::StopJobsOn(NodeIndex node) {
  Observation& o = observation_;
  new_shares_.clear();
  new_share_begin_.assign(1, 0);
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t r = At(row);
    const auto shares = o.shares_of(row);
    const bool hit = std::any_of(shares.begin(), shares.end(),
                                 [node](const NodeShare& share) { return share.node == node; });
    if (!hit) {
      new_shares_.insert(new_shares_.end(), shares.begin(), shares.end());
    } else {
      Progress& p = progress_[r];
      const Seconds every = scenario_.options().failures.checkpoint_every;
      const Seconds run = std::max(0.0, o.now - p.ready);
      const Seconds lost = every > 0 ? std::fmod(run, every) : 0.0;
      o.done_work[r] = std::max(0.0, o.done_work[r] - lost * p.rate);
      --running_;
      gpus_used_ -= p.gpus;
      o.running[r] = -1;
      o.waiting_since[r] = o.now;
      p.rate = 0;
      p.gpus = 0;
      p.finish = kNever;
      ++records_[At(o.job[r])].preemptions;
      ++records_[At(o.job[r])].failures;
    }
    new_share_begin_.push_back(static_cast<std::int32_t>(new_shares_.size()));
  }
  std::swap(o.shares, new_shares_);
  std::swap(o.share_begin, new_share_begin_);
}

void SimulatedCluster::PassTo(Seconds time) {
  Observation& o = observation_;
  const Seconds before = o.now;
  step_.elapsed += time - before;
  bool any_finished = false;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t r = At(row);
    Progress& p = progress_[r];
    const Seconds end = std::min(time, p.finish);
    const Seconds in_system = end - before;
    step_.job_seconds += in_system;
    step_.slowdown_seconds += in_system * p.inverse_duration;
    if (o.running[r] < 0) continue;
    // Step by step, so that jobs of equal history stay exactly equal.
    const Seconds worked = std::max(0.0, time - std::max(before, p.ready));
    const double done =
        p.finish <= time ? p.work : std::min(p.work, o.done_work[r] + p.rate * worked);
    step_.progress += std::max(0.0, done - o.done_work[r]) / p.work;
    o.done_work[r] = done;
    o.attained_seconds[r] += in_system;
    o.attained_gpu_seconds[r] += in_system * p.gpus;
    step_.gpu_seconds += in_system * p.gpus;
    if (p.finish <= time) {
      JobRecord& record = records_[At(o.job[r])];
      record.finish = p.finish;
      record.gpu_seconds = o.attained_gpu_seconds[r];
      ++step_.finished;
      --running_;
      gpus_used_ -= p.gpus;
      any_finished = true;
    } else {
      o.waiting_since[r] = time;
    }
  }
  o.now = time;
  if (any_finished) RemoveFinishedRows();
  Admit(time);
}

void SimulatedCluster::RemoveFinishedRows() {
  Observation& o = observation_;
  std::size_t kept = 0;
  std::int32_t kept_shares = 0;
  const std::size_t rows = o.job.size();
  for (std::size_t r = 0; r < rows; ++r) {
    const std::int32_t share_begin = o.share_begin[r];
    const std::int32_t share_end = o.share_begin[r + 1];
    if (progress_[r].finish <= o.now) {
      row_of_job_[At(o.job[r])] = -1;
      continue;
    }
    row_of_job_[At(o.job[r])] = static_cast<std::int32_t>(kept);
    o.share_begin[kept] = kept_shares;
    for (std::int32_t s = share_begin; s < share_end; ++s)
      o.shares[At(kept_shares++)] = o.shares[At(s)];
    if (kept != r) {
      o.job[kept] = o.job[r];
      o.submit[kept] = o.submit[r];
      o.table[kept] = o.table[r];
      o.requested[kept] = o.requested[r];
      o.running[kept] = o.running[r];
      o.done_work[kept] = o.done_work[r];
      o.estimated_work[kept] = o.estimated_work[r];
      o.attained_gpu_seconds[kept] = o.attained_gpu_seconds[r];
      o.attained_seconds[kept] = o.attained_seconds[r];
      o.restart_cost[kept] = o.restart_cost[r];
      o.changes[kept] = o.changes[r];
      o.waiting_since[kept] = o.waiting_since[r];
      o.priority[kept] = o.priority[r];
      o.deadline[kept] = o.deadline[r];
      o.tenant[kept] = o.tenant[r];
      progress_[kept] = progress_[r];
    }
    ++kept;
  }
  o.job.resize(kept);
  o.submit.resize(kept);
  o.table.resize(kept);
  o.requested.resize(kept);
  o.running.resize(kept);
  o.done_work.resize(kept);
  o.estimated_work.resize(kept);
  o.attained_gpu_seconds.resize(kept);
  o.attained_seconds.resize(kept);
  o.restart_cost.resize(kept);
  o.changes.resize(kept);
  o.waiting_since.resize(kept);
  o.priority.resize(kept);
  o.deadline.resize(kept);
  o.tenant.resize(kept);
  progress_.resize(kept);
  o.share_begin.resize(kept + 1);
  o.share_begin[kept] = kept_shares;
  o.shares.resize(At(kept_shares));
}

void SimulatedCluster::Admit(Seconds until) {
  Observation& o = observation_;
  const std::vector<Job>& jobs = scenario_.workload().jobs;
  while (At(next_arrival_) < jobs.size() && jobs[At(next_arrival_)].submit <= until) {
    const Job& job = jobs[At(next_arrival_)];
    const Scenario::JobFacts& facts = scenario_.facts(next_arrival_);
    row_of_job_[At(next_arrival_)] = o.rows();
    o.job.push_back(next_arrival_);
    o.submit.push_back(job.submit);
    o.table.push_back(facts.table.get());
    o.requested.push_back(facts.requested);
    o.running.push_back(-1);
    o.done_work.push_back(0);
    o.estimated_work.push_back(facts.estimate);
    o.attained_gpu_seconds.push_back(0);
    o.attained_seconds.push_back(0);
    o.restart_cost.push_back(scenario_.options().restart_cost);
    o.changes.push_back(0);
    o.waiting_since.push_back(job.submit);
    o.priority.push_back(job.priority);
    o.deadline.push_back(job.deadline);
    o.tenant.push_back(job.tenant);
    o.share_begin.push_back(o.share_begin.back());
    Progress progress;
    progress.work = facts.work;
    progress.inverse_duration = 1.0 / job.duration;
    progress_.push_back(progress);
    step_.job_seconds += until - job.submit;
    step_.slowdown_seconds += (until - job.submit) * progress.inverse_duration;
    ++step_.arrived;
    ++next_arrival_;
  }
}

Status SimulatedCluster::Validate(const Allocation& allocation) const {
  return ValidateAllocation(observation_, allocation);
}

ApplyReport SimulatedCluster::Apply(const Allocation& allocation) {
  ApplyReport report;
  Observation& o = observation_;
  if (applied_decision_ == o.decision) return report;
  report.refused = Validate(allocation);
  if (!report.refused.ok()) return report;
  applied_decision_ = o.decision;

  const std::size_t rows = o.job.size();
  entry_of_row_.assign(rows, -1);
  for (std::size_t e = 0; e < allocation.entries().size(); ++e) {
    entry_of_row_[At(row_of_job_[At(allocation.entries()[e].job)])] = static_cast<std::int32_t>(e);
  }
  new_shares_.clear();
  new_share_begin_.resize(rows + 1);
  new_share_begin_[0] = 0;
  running_ = 0;
  gpus_used_ = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    new_share_begin_[r + 1] = static_cast<std::int32_t>(new_shares_.size());
    if (entry_of_row_[r] < 0 && o.running[r] < 0) continue;
    Progress& p = progress_[r];
    JobRecord& record = records_[At(o.job[r])];
    if (entry_of_row_[r] < 0) {
      ++report.preempted;
      ++record.preemptions;
      o.running[r] = -1;
      o.waiting_since[r] = o.now;
      p.rate = 0;
      p.gpus = 0;
      p.finish = kNever;
      continue;
    }
    const Allocation::Entry& entry = allocation.entries()[At(entry_of_row_[r])];
    const auto shares = allocation.shares(entry);
    const auto held = o.shares_of(static_cast<std::int32_t>(r));
    const bool same_place = std::equal(shares.begin(), shares.end(), held.begin(), held.end());
    if (entry.configuration != o.running[r] || !same_place || entry.relaunch) {
      if (o.running[r] < 0) {
        ++report.launched;
      } else if (entry.configuration != o.running[r]) {
        ++report.resized;
      } else {
        ++report.moved;
        ++record.moves;
      }
      const Configuration& configuration = (*o.table[r])[entry.configuration];
      const bool first = o.changes[r] == 0;
      if (first) {
        record.first_start = o.now;
      } else {
        ++record.restarts;
      }
      ++o.changes[r];
      o.running[r] = entry.configuration;
      p.ready = o.now + (first ? 0.0 : o.restart_cost[r]);
      p.rate = configuration.rate * scenario_.options().speedup;
      p.gpus = configuration.demand.gpus;
      p.finish = FinishOf(p, o.done_work[r]);
    }
    o.waiting_since[r] = o.now;
    ++running_;
    gpus_used_ += p.gpus;
    new_shares_.insert(new_shares_.end(), shares.begin(), shares.end());
    new_share_begin_[r + 1] = static_cast<std::int32_t>(new_shares_.size());
  }
  std::swap(o.shares, new_shares_);
  std::swap(o.share_begin, new_share_begin_);
  timeline_.push_back({o.now, o.rows(), running_, gpus_used_});
  return report;
}

}  // namespace allot
