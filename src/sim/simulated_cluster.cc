#include "sim/simulated_cluster.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cluster/validate.h"
#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "sim/gpu_pairs.h"
#include "sim/ideal_run.h"

namespace allot {
namespace {

// Ends that differ from a moment by rounding alone lie in that moment: 0.1 + 0.2 is no later than
// 0.3. Relative to the time itself, far above the rounding of sums of many terms and far below what
// anybody measures (32 us in a year).
constexpr double kEndSlack = 1e-12;

// Before the first arrival.
Observation WithoutJobs(const Scenario& scenario) {
  Observation o;
  o.interval = scenario.options().interval;
  o.user_names = &scenario.workload().users.names();
  o.group_names = &scenario.workload().groups.names();
  o.share_begin.assign(1, 0);
  return o;
}

// Whether it keeps its type and as many GPUs on each node, up to rotation.
bool SameShape(const Observation& o, std::size_t row, const Allocation::Entry& entry,
               std::span<const NodeShare> held, std::span<const NodeShare> given) {
  const ConfigurationTable& table = *o.table[row];
  if (table[o.running[row]].gpu_type != table[entry.configuration].gpu_type) return false;
  const auto shape = [](std::span<const NodeShare> shares) {
    std::vector<UnitCounts> nodes;
    nodes.reserve(shares.size());
    for (const NodeShare& share : shares) nodes.push_back(share.units);
    return CanonicalPlacement(nodes);
  };
  return shape(held) == shape(given);
}

// `rule`: what the rules say of an answer that could not be taken.
ApplyReport Refused(const Status& rule) {
  ALLOT_CHECK(!rule.ok());
  ApplyReport report;
  report.refused = rule;
  return report;
}

}  // namespace

SimulatedCluster::SimulatedCluster(const Scenario& scenario)
    : scenario_(scenario),
      times_(scenario.options()),
      nodes_(scenario),
      jobs_(scenario, WithoutJobs(scenario)),
      walks_(scenario) {
  Observation& o = jobs_.observation;
  o.cluster = &nodes_.cluster();
  if (scenario.has_placed_jobs() && scenario.cluster().topology() != nullptr) {
    network_.emplace(*scenario.cluster().topology(), jobs_.records.size());
  }
  // A point a completion, and the decisions. What is not used is not taken from the system.
  timeline_.Reserve(2 * jobs_.records.size());
  holdings_.Reset(o, &o.free.emplace());
  if (auto belief = MakeBelief(scenario.options().beliefs, scenario)) {
    rates_.emplace(scenario, std::move(belief), walks_);
  }
  if (scenario.options().whole_rounds) rounds_.emplace(scenario);
  if (scenario.loses_gpu_time()) lost_.emplace(jobs_.records.size());
  if (scenario.start_plan() != nullptr) starts_.emplace(scenario);
  if (scenario.options().training.stepped) {
    training_.emplace(scenario, rates_ ? &*rates_ : nullptr);
  }
  AdvanceTo(times_.AtOrAfter(scenario.workload().jobs.front().submit));
  ShowLent();
  o.events.number = 1;
}

SimulatedCluster::SimulatedCluster(const Scenario& scenario, const Observation& start)
    : scenario_(scenario),
      times_(scenario.options()),
      nodes_(scenario.cluster()),
      jobs_(scenario, start),
      walks_(scenario) {
  ALLOT_CHECK(scenario.node_events().empty() && scenario.lending() == nullptr);
  ALLOT_CHECK(!scenario.has_placed_jobs() && scenario.start_plan() == nullptr);
  Observation& o = jobs_.observation;
  o.cluster = &nodes_.cluster();
  o.decision = 0;
  last_event_ = o.now;
  if (scenario.options().whole_rounds) rounds_.emplace(scenario);
  for (std::size_t i = 0; i < o.job.size(); ++i) {
    inverse_duration_.push_back(1.0 / scenario.workload().jobs[i].duration);
    if (o.running[i] >= 0)
      jobs_.Run(static_cast<std::int32_t>(i),
                RunFrom(i, o.shares_of(static_cast<std::int32_t>(i)).size(), o.now));
  }
  jobs_.FindFirstFinish();
  holdings_.Reset(o, &o.free.emplace());
  o.events.Clear();
  o.events.arrived.resize(o.job.size());
  std::iota(o.events.arrived.begin(), o.events.arrived.end(), 0);
  o.events.number = 1;
}

void SimulatedCluster::ShowRates(RatesRead rates) {
  // Autoscalers read them too.
  if (nodes_.autoscaled() || !training_ || !rates_ || scenario_.cluster().types().size() > 1) {
    return;
  }
  rates_->LimitTo(rates, &jobs_);
}

TimelinePoint SimulatedCluster::PointNow(double gpus_used) const {
  return {.time = jobs_.observation.now,
          .active = jobs_.observation.rows(),
          .running = static_cast<std::int32_t>(jobs_.running.size()),
          .gpus_used = static_cast<std::int32_t>(std::lround(gpus_used)),
          .nodes = nodes_.present()};
}

// ---- when something happens ----

Seconds SimulatedCluster::NextEvent() const {
  const Observation& o = jobs_.observation;
  Seconds event = NextJobEvent();
  if (o.rows() == 0) return event;
  if (o.now < decide_at_) event = std::min(event, decide_at_);
  return std::min(event, NextChange());
}

Seconds SimulatedCluster::NextChange() const {
  return starts_ ? std::min(nodes_.NextChange(), starts_->NextChange()) : nodes_.NextChange();
}

Seconds SimulatedCluster::NextJobEvent() const {
  Seconds event = jobs_.first_finish;
  if (!jobs_.all_arrived()) event = std::min(event, jobs_.records[At(jobs_.next_arrival)].submit);
  return rates_ ? std::min(event, rates_->NextMeasurement(jobs_)) : event;
}

bool SimulatedCluster::PromiseMatters() const {
  const Seconds now = jobs_.observation.now;
  return !rounds_ && !nodes_.autoscaled() && jobs_.observation.rows() > 0 &&
         times_.ForEvent(NextEvent(), now) > times_.IntervalAfter(now);
}

// ---- time passes ----

bool SimulatedCluster::WaitForChange(Seconds valid_until) {
  Observation& o = jobs_.observation;
  // The first step also holds what came before the first decision, so that sums are complete.
  if (o.decision > 0) step_ = StepFacts{};
  const bool empty = o.rows() == 0;
  const Seconds event = NextEvent();
  if (empty && event == kNever) return false;
  if (applied_decision_ != o.decision) o.events.Clear();

  if (throttle_.part > 0) {
    valid_until = std::max(valid_until, o.now + throttle_.part * (o.now - throttle_.since));
  }
  // The size of the cluster is thought about at every interval.
  if (nodes_.autoscaled()) valid_until = 0;
  const Seconds next_quiet = times_.QuietAfter(o.now, last_event_);
  const Seconds next_event = times_.ForEvent(event, o.now);
  if (rounds_) {
    PassRound();
  } else if (empty && nodes_.autoscaled()) {
    PassEmpty(next_event);
  } else if (empty) {
    AdvanceTo(next_event);
  } else if (training_) {
    PassSteps(valid_until);
  } else {
    starvation_.Check(jobs_, nodes_, event, valid_until);
    AdvanceTo(std::min(next_event, std::max(times_.IntervalAtOrAfter(valid_until), next_quiet)));
    if (rates_) rates_->Measure(&jobs_);
  }
  if (nodes_.autoscaled()) Scale();
  ShowLent();
  std::vector<EndedJob>& ended = o.events.ended;
  const auto by_job = [](const EndedJob& a, const EndedJob& b) { return a.job < b.job; };
  if (!std::is_sorted(ended.begin(), ended.end(), by_job)) {
    std::sort(ended.begin(), ended.end(), by_job);
  }
  ++o.decision;
  o.events.number = o.decision + 1;
  return o.rows() > 0 || NextJobEvent() != kNever;
}

// Interval by interval while there is nothing to do.
void SimulatedCluster::PassEmpty(Seconds time) {
  const Seconds& now = jobs_.observation.now;
  while (now < time) {
    AdvanceTo(std::min(time, times_.IntervalAfter(now)));
    if (now < time) Scale();
  }
}

void SimulatedCluster::PassRound() {
  const Observation& o = jobs_.observation;
  if (applied_decision_ != o.decision) rounds_->Plan(&jobs_);
  if (o.rows() > 0) {
    starvation_.Check(jobs_, nodes_, rounds_->anyone_works() ? o.now : NextEvent(), 0);
  }
  if (jobs_.running.empty()) {
    // Nothing but an arrival can change that; without one the same moment is decided on again.
    return AdvanceTo(jobs_.all_arrived() ? o.now : jobs_.records[At(jobs_.next_arrival)].submit);
  }
  AdvanceTo(rounds_->Begin(&jobs_));
  for (const JobIndex job : rounds_->TakeDropped()) {
    jobs_.records[At(job)].finish = kNever;
    --step_.finished;
  }
}

// Interval by interval, until something has happened or the answer is not valid any more.
void SimulatedCluster::PassSteps(Seconds valid_until) {
  const Observation& o = jobs_.observation;
  do {
    const Seconds event = jobs_.running.empty() ? NextEvent() : o.now;
    starvation_.Check(jobs_, nodes_, event, valid_until);
    AdvanceTo(times_.IntervalAfter(o.now));
    if (rates_) {
      rates_->ShowRenewed(&jobs_);
      rates_->Measure(&jobs_);
    }
  } while (o.rows() > 0 && o.events.arrived.empty() && o.events.ended.empty() &&
           o.events.table_changed.empty() && o.now < times_.IntervalAtOrAfter(valid_until));
}

void SimulatedCluster::AdvanceTo(Seconds time) {
  for (Seconds change = NextChange(); change <= time; change = NextChange()) {
    if (change > jobs_.observation.now) PassTo(change);
    if (starts_ && starts_->NextChange() <= change) {
      FollowStarts();
    } else if (const auto lent = nodes_.TakeLent()) {
      LendNodes(*lent);
    } else {
      const NodeEvent& event = *nodes_.next_event();
      if (!event.up) StopJobsOn(event.node, event.reason, event.notice);
      nodes_.TakeEvent();
    }
    last_event_ = change;
    holdings_.Reset(jobs_.observation, &*jobs_.observation.free);
  }
  PassTo(time);
}

void SimulatedCluster::PassTo(Seconds time) {
  if (network_) {
    const auto next_end = [&] { return network_->FirstSharedEnd(jobs_, time); };
    for (Seconds end = next_end(); end < time; end = next_end()) PassPart(end);
  }
  PassPart(time);
}

void SimulatedCluster::PassPart(Seconds time) {
  Observation& o = jobs_.observation;
  const Seconds before = o.now;
  if (training_) training_->Advance(time, &jobs_);
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
  const std::int32_t* const rows = jobs_.running_rows.data();
  RunningJob* const runs = jobs_.running.data();
  const std::size_t slots = jobs_.running.size();
  const bool sums = sums_;
  const bool varies = walks_.any() || rounds_;
  const bool others = rounds_ || training_;
  const bool plain = !sums && !others;
  double gpu_seconds = step_.gpu_seconds;
  Seconds first_finish = kNever;
  const Seconds ended_by = time + kEndSlack * time;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    // Most go on, and nobody asks for sums: the same as below without calls, all in registers.
    const Seconds elapsed = time - before;
    for (; plain && slot < slots && runs[slot].finish > ended_by; ++slot) {
      if (varies && !(runs[slot].rate > 0)) break;
      const std::size_t r = At(rows[slot]);
      const RunningJob& run = runs[slot];
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
    RunningJob& run = runs[slot];
    const bool ends = run.finish <= ended_by;
    if (ends) run.finish = std::min(run.finish, time);
    const Seconds in_system = (ends ? run.finish : time) - before;
    if (sums) {
      while (next < r) count(time - before);
      count(in_system);
    }
    // Step by step, so that jobs of equal history stay exactly equal.
    const Seconds worked = std::max(0.0, time - std::max(before, run.ready));
    const double done = ends ? run.work
                        : others || (varies && !(run.rate > 0))
                            ? DoneAfter(slot, worked)
                            : std::min(run.work, done_work[r] + run.rate * worked);
    if (sums) step_.progress += std::max(0.0, done - done_work[r]) / run.work;
    done_work[r] = done;
    attained_seconds[r] += in_system;
    attained_gpu_seconds[r] += in_system * run.gpus;
    gpu_seconds += in_system * run.gpus;
    if (ends) {
      JobRecord& record = jobs_.records[At(o.job[r])];
      record.finish = run.finish;
      record.gpu_seconds = attained_gpu_seconds[r];
      if (lost_) lost_->End(o.job[r], run.finish);
      if (starts_) starts_->End(o.job[r], run.finish);
      ++step_.finished;
      jobs_.gpus_used -= run.gpus;
      o.events.ended.push_back(EndedAt(o, rows[slot], run.finish));
      ended_rows_.push_back(rows[slot]);
      ended_slots_.push_back(slot);
    } else {
      waiting_since[r] = time;
      first_finish = std::min(first_finish, run.finish);
    }
  }
  step_.gpu_seconds = gpu_seconds;
  jobs_.first_finish = first_finish;
  while (sums_ && next < o.job.size()) count(time - before);
  step_.job_seconds = job_seconds;
  step_.slowdown_seconds = slowdown_seconds;
  o.now = time;
  if (!ended_rows_.empty()) {
    last_event_ = time;
    if (!o.partner.empty()) ChargeSurvivors(time, &jobs_, &step_.gpu_seconds);
    NoteCompletions();
    RemoveEndedRows();
  }
  Admit(time);
}

double SimulatedCluster::DoneAfter(std::size_t slot, Seconds worked) const {
  const Observation& o = jobs_.observation;
  const std::size_t row = jobs_.RowIn(slot);
  const double done = o.done_work[row];
  if (rounds_) return done + rounds_->WorkIn(slot);
  if (training_ && scenario_.TrainsInSteps(o.job[row])) return training_->done(o.job[row]);
  if (walks_.Follows(o.job[row])) return walks_.DoneAfter(o, row, done, worked);
  const RunningJob& run = jobs_.running[slot];
  return std::min(run.work, done + run.rate * worked);
}

void SimulatedCluster::NoteCompletions() {
  completions_.clear();
  double used = jobs_.gpus_used;  // without those that ended
  for (const std::size_t slot : ended_slots_) {
    completions_.push_back({jobs_.running[slot].finish, GpusFreed(jobs_, slot)});
    used += jobs_.running[slot].gpus;
  }
  timeline_.NoteCompletions(PointNow(used), completions_);
}

void SimulatedCluster::RemoveEndedRows() {
  const Observation& o = jobs_.observation;
  for (const std::int32_t row : ended_rows_) holdings_.Release(o, row);
  for (const std::size_t slot : ended_slots_) {
    const JobIndex job = jobs_.JobIn(slot);
    if (rates_) rates_->MeasureEnd(jobs_, slot);
    if (rates_) rates_->Forget(job);
    if (network_) network_->Remove(job);
    if (training_) training_->Stop(job);
  }
  jobs_.Erase(ended_rows_, ended_slots_);
  if (!o.partner.empty()) PartFromPartners(&jobs_);
  if (network_) walks_.FollowCongestion(&jobs_, &*network_, times_);
}

void SimulatedCluster::Admit(Seconds until) {
  Observation& o = jobs_.observation;
  const std::vector<Job>& jobs = scenario_.workload().jobs;
  JobIndex& next = jobs_.next_arrival;
  for (; At(next) < jobs.size() && jobs[At(next)].submit <= until; ++next) {
    const Job& job = jobs[At(next)];
    const Scenario::JobFacts& facts = scenario_.facts(next);
    jobs_.row_of_job[At(next)] = o.rows();
    o.events.arrived.push_back(o.rows());
    o.Append({.job = next,
              .submit = job.submit,
              .table = facts.table.get(),
              .requested = facts.requested,
              .estimated_work = facts.estimate,
              .restart_cost = scenario_.RestartCostOf(next) +
                              scenario_.StateSecondsOf(next, -1, facts.requested),
              .waiting_since = job.submit,
              .priority = job.priority,
              .deadline = job.deadline,
              .tenant = job.tenant,
              .user = job.user,
              .group = job.group});
    if (network_) o.places.push_back({job.communication});
    if (rates_) rates_->Show(o.job.size() - 1, &jobs_);
    if (sums_) {
      inverse_duration_.push_back(1.0 / job.duration);
      step_.job_seconds += until - job.submit;
      step_.slowdown_seconds += (until - job.submit) * inverse_duration_.back();
    }
    ++step_.arrived;
    last_event_ = until;
  }
}

// ---- nodes come and go ----

void SimulatedCluster::Scale() {
  const Observation& o = jobs_.observation;
  if (o.now != times_.IntervalAtOrAfter(o.now)) return;
  const std::int32_t wanted = nodes_.Wanted(o);
  if (wanted == nodes_.present()) return;
  while (wanted < nodes_.present()) {
    const NodeIndex node = nodes_.LeastUsed(o);
    StopJobsOn(node, NodeEventReason::kPlanned, 0);
    nodes_.Remove(node);
  }
  nodes_.GrowTo(wanted);
  holdings_.Reset(o, &*jobs_.observation.free);
  timeline_.Note(PointNow(jobs_.gpus_used));
}

void SimulatedCluster::LendNodes(std::int32_t nodes) {
  const Seconds notice = scenario_.lending()->notice();
  while (nodes < nodes_.kept()) {
    const NodeIndex node = nodes_.LeastUsed(jobs_.observation);
    StopJobsOn(node, NodeEventReason::kRecall, notice);
    nodes_.Remove(node);
  }
  nodes_.GrowTo(nodes);
}

void SimulatedCluster::ShowLent() {
  const Lending* const lending = scenario_.lending();
  if (lending != nullptr) {
    lending->Show(jobs_.observation.now, nodes_.kept(), &jobs_.observation);
  }
}

void SimulatedCluster::StopJobsOn(NodeIndex node, NodeEventReason reason, Seconds notice) {
  Observation& o = jobs_.observation;
  const NodeLoss loss = scenario_.options().node_loss;
  const bool planned = reason == NodeEventReason::kPlanned;
  new_shares_.clear();
  new_share_begin_.assign(1, 0);
  std::size_t slot = 0;  // of the next row that runs
  std::size_t kept = 0;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t r = At(row);
    const auto shares = o.shares_of(row);
    const bool hit = std::any_of(shares.begin(), shares.end(),
                                 [node](const NodeShare& share) { return share.node == node; });
    std::int32_t rest = -1;  // configuration in which the job goes on
    if (o.running[r] >= 0) {
      if (!hit) {
        jobs_.running_rows[kept] = row;
        jobs_.running[kept++] = jobs_.running[slot];
      } else {
        const bool starts = !starts_ || !starts_->WillFail(o.job[r]);
        if (!planned && loss != NodeLoss::kRequeue && starts)
          rest = jobs_.ConfigurationWithout(r, node);
        const Checkpoints written = scenario_.CheckpointsOn(shares.size());
        const bool in_time = planned || (notice > 0 && notice >= written.cost);
        if (!in_time && !(loss == NodeLoss::kHot && rest >= 0)) LoseSinceCheckpoint(slot, written);
        jobs_.gpus_used -= jobs_.running[slot].gpus;
        o.events.Change(row);
        if (rest >= 0) {
          jobs_.running_rows[kept] = row;
          jobs_.running[kept] = GoOnWithout(node, r, rest);
          jobs_.gpus_used += jobs_.running[kept++].gpus;
        } else {
          JobRecord& record = jobs_.records[At(o.job[r])];
          ++(reason == NodeEventReason::kRecall ? record.evictions : record.failures);
          if (training_) training_->Stop(o.job[r]);
          Stop(r);
        }
      }
      ++slot;
    }
    if (!hit || rest >= 0) {
      std::copy_if(shares.begin(), shares.end(), std::back_inserter(new_shares_),
                   [node](const NodeShare& share) { return share.node != node; });
    }
    new_share_begin_.push_back(static_cast<std::int32_t>(new_shares_.size()));
  }
  jobs_.running_rows.resize(kept);
  jobs_.running.resize(kept);
  if (!o.partner.empty()) PartFromPartners(&jobs_);
  std::swap(o.shares, new_shares_);
  std::swap(o.share_begin, new_share_begin_);
  if (walks_.any()) BeginWalks();
  jobs_.FindFirstFinish();
  timeline_.Note(PointNow(jobs_.gpus_used));
}

RunningJob SimulatedCluster::GoOnWithout(NodeIndex node, std::size_t row,
                                         std::int32_t configuration) {
  Observation& o = jobs_.observation;
  JobRecord& record = jobs_.records[At(o.job[row])];
  ++record.restarts;
  ++record.shrinks;
  ++o.changes[row];
  const Seconds ready = o.now + ChangeTo(configuration, row);
  if (rates_) rates_->Start(o.job[row], ready);
  const auto shares = o.shares_of(static_cast<std::int32_t>(row));
  const auto left = std::count_if(shares.begin(), shares.end(),
                                  [node](const NodeShare& share) { return share.node != node; });
  return RunFrom(row, static_cast<std::size_t>(left), ready);
}

void SimulatedCluster::LoseSinceCheckpoint(std::size_t slot, const Checkpoints& written) {
  Observation& o = jobs_.observation;
  const RunningJob& run = jobs_.running[slot];
  const std::size_t row = jobs_.RowIn(slot);
  const Seconds ran = std::max(0.0, o.now - run.ready);
  const Seconds lost = written.every > 0 ? std::fmod(ran, written.every + written.cost) : 0.0;
  if (lost_) lost_->Redo(o.job[row], lost);
  o.done_work[row] = lost > 0 && walks_.Follows(o.job[row])
                         ? walks_.DoneSinceBegin(o, row, ran - lost)
                         : std::max(0.0, o.done_work[row] - lost * run.rate);
}

void SimulatedCluster::FollowStarts() {
  const FailedStarts::Changes changes = starts_->Advance(jobs_.observation.now);
  if (!changes.failed.empty()) {
    stops_.Clear();
    stops_.stopped = changes.failed;
    ALLOT_CHECK(holdings_.TakeChanges(jobs_.observation, jobs_.row_of_job, stops_));
    ApplyReport report;
    MoveShares(stops_.given, &report);
    if (!jobs_.observation.partner.empty()) PartFromPartners(&jobs_);
  }
  if (!changes.given_up.empty()) GiveUp(changes.given_up);
  for (const NodeIndex node : changes.drained) {
    StopJobsOn(node, NodeEventReason::kPlanned, 0);
    nodes_.Drain(node, true);
  }
  for (const NodeIndex node : changes.put_back) nodes_.Drain(node, false);
  timeline_.Note(PointNow(jobs_.gpus_used));
}

// They end here, but not by their work: no record says that they finished.
void SimulatedCluster::GiveUp(std::span<const JobIndex> jobs) {
  const Observation& o = jobs_.observation;
  for (const JobIndex job : jobs) {
    RunningJob& run = jobs_.running[jobs_.SlotOf(job)];
    run.work = o.done_work[At(jobs_.row_of_job[At(job)])];
    run.finish = o.now;
  }
  PassTo(o.now);
  for (const JobIndex job : jobs) jobs_.records[At(job)].finish = kNever;
  step_.finished -= static_cast<std::int32_t>(jobs.size());
}

// ---- answers take effect ----

void SimulatedCluster::Stop(std::size_t row) {
  Observation& o = jobs_.observation;
  if (starts_) starts_->Stop(o.job[row]);
  if (lost_) lost_->End(o.job[row], o.now);
  if (network_) {
    network_->Remove(o.job[row]);
    o.places[row].congestion = 1;
  }
  ChangeTo(-1, row);
  o.waiting_since[row] = o.now;
  ++jobs_.records[At(o.job[row])].preemptions;
}

Seconds SimulatedCluster::ChangeTo(std::int32_t configuration, std::size_t row) {
  Observation& o = jobs_.observation;
  const JobIndex job = o.job[row];
  const std::int32_t requested = scenario_.facts(job).requested;
  const auto shown = [&](std::int32_t running) {
    return scenario_.StateSecondsOf(job, running, running < 0 ? requested : running);
  };
  const std::int32_t before = std::exchange(o.running[row], configuration);
  const Seconds without_state = o.restart_cost[row] - shown(before);
  o.restart_cost[row] = without_state + shown(configuration);
  return configuration < 0 ? 0
                           : without_state + scenario_.StateSecondsOf(job, before, configuration);
}

Status SimulatedCluster::Validate(const Allocation& allocation) const {
  return ValidateAllocation(Observe(), allocation);
}

ApplyReport SimulatedCluster::Apply(const Allocation& allocation) {
  if (applied_decision_ == jobs_.observation.decision) return {};
  if (!holdings_.Take(jobs_.observation, jobs_.row_of_job, jobs_.running_rows, allocation)) {
    return Refused(Validate(allocation));
  }
  return MakeChanges(allocation);
}

ApplyReport SimulatedCluster::ApplyChanges(const AllocationChanges& changes) {
  if (applied_decision_ == jobs_.observation.decision) return {};
  if (!holdings_.TakeChanges(jobs_.observation, jobs_.row_of_job, changes)) {
    return Refused(ValidateChanges(jobs_.observation, changes));
  }
  return MakeChanges(changes.given);
}

ApplyReport SimulatedCluster::MakeChanges(const Allocation& given) {
  ApplyReport report;
  Observation& o = jobs_.observation;
  applied_decision_ = o.decision;
  o.events.Clear();
  if (!holdings_.changes().empty()) MoveShares(given, &report);
  if (training_) training_->Place(jobs_, holdings_.changes(), given.requested_batches());
  if (given.has_partners() || !o.partner.empty()) FollowPartners(given, &jobs_);
  if (rounds_) rounds_->Plan(&jobs_);
  timeline_.Note(PointNow(jobs_.gpus_used));
  last_decision_ = o.now;
  return report;
}

void SimulatedCluster::MoveShares(const Allocation& given, ApplyReport* report) {
  Observation& o = jobs_.observation;
  // Up to the first change shares stay where they are, behind it they shift.
  std::size_t next = At(holdings_.changes().front().row);
  std::int32_t copied = o.share_begin[next];
  new_shares_.assign(o.shares.begin(), o.shares.begin() + copied);
  const auto keep_shares_up_to = [&](std::size_t row) {
    const std::int32_t shift = static_cast<std::int32_t>(new_shares_.size()) - copied;
    const std::int32_t end = o.share_begin[row];
    new_shares_.insert(new_shares_.end(), o.shares.begin() + copied, o.shares.begin() + end);
    copied = end;
    if (shift != 0) {
      for (std::size_t r = next; r < row; ++r) o.share_begin[r] += shift;
    }
    next = row;
  };
  new_running_rows_.clear();
  new_running_.clear();
  std::size_t slot = 0;
  const auto keep_runs_up_to = [&](std::int32_t row) {
    const auto from = static_cast<std::ptrdiff_t>(slot);
    while (slot < jobs_.running.size() && jobs_.running_rows[slot] < row) ++slot;
    const auto to = static_cast<std::ptrdiff_t>(slot);
    new_running_rows_.insert(new_running_rows_.end(), jobs_.running_rows.begin() + from,
                             jobs_.running_rows.begin() + to);
    new_running_.insert(new_running_.end(), jobs_.running.begin() + from,
                        jobs_.running.begin() + to);
  };
  for (const Holdings::Change& change : holdings_.changes()) {
    const std::size_t row = At(change.row);
    o.events.Change(change.row);
    keep_shares_up_to(row);
    keep_runs_up_to(change.row);
    const std::span<const NodeShare> held(o.shares.data() + copied,
                                          At(o.share_begin[row + 1] - copied));
    copied = o.share_begin[row + 1];
    o.share_begin[next++] = static_cast<std::int32_t>(new_shares_.size());
    const RunningJob* const before = o.running[row] >= 0 ? &jobs_.running[slot++] : nullptr;
    if (before != nullptr) jobs_.gpus_used -= before->gpus;
    if (change.entry < 0) {
      Stop(row);
      ++report->preempted;
      continue;
    }
    const Allocation::Entry& entry = given.entries()[At(change.entry)];
    new_running_rows_.push_back(change.row);
    const auto shares = given.shares(entry);
    const bool same_shape = before != nullptr && SameShape(o, row, entry, held, shares);
    new_running_.push_back(Give(entry, row, shares, before, same_shape, report));
    jobs_.gpus_used += new_running_.back().gpus;
    new_shares_.insert(new_shares_.end(), shares.begin(), shares.end());
  }
  keep_shares_up_to(o.job.size());
  keep_runs_up_to(o.rows());
  o.share_begin[next] = static_cast<std::int32_t>(new_shares_.size());
  std::swap(o.shares, new_shares_);
  std::swap(jobs_.running_rows, new_running_rows_);
  std::swap(jobs_.running, new_running_);
  if (walks_.any()) BeginWalks();
  jobs_.FindFirstFinish();
}

RunningJob SimulatedCluster::Give(const Allocation::Entry& entry, std::size_t row,
                                  std::span<const NodeShare> shares, const RunningJob* before,
                                  bool same_shape, ApplyReport* report) {
  Observation& o = jobs_.observation;
  JobRecord& record = jobs_.records[At(o.job[row])];
  const bool launch = o.running[row] < 0;
  if (launch) {
    ++report->launched;
  } else if (entry.configuration != o.running[row]) {
    ++report->resized;
  } else {
    ++report->moved;
    ++record.moves;
  }
  const bool first = o.changes[row] == 0;
  if (first) {
    record.first_start = o.now;
  } else {
    ++record.restarts;
  }
  ++o.changes[row];
  const Seconds cost = ChangeTo(entry.configuration, row);
  o.waiting_since[row] = o.now;
  const TrainingRules& rules = scenario_.options().training;
  const bool trains = scenario_.facts(o.job[row]).application() != nullptr;
  const bool free_first = first && !(trains && rules.first_start);
  Seconds ready =
      o.now + (free_first ? 0.0 : cost) + (launch ? scenario_.options().launch_cost : 0.0);
  if (trains && rules.free_moves && same_shape) ready = std::max(before->ready, o.now);
  if (starts_) {
    const Seconds fails = starts_->Start(o.job[row], shares, o.now, ready);
    if (fails < kNever) ready = fails;  // no progress until then
  }
  if (rates_) rates_->Start(o.job[row], ready);
  return RunFrom(row, shares.size(), ready);
}

RunningJob SimulatedCluster::RunFrom(std::size_t row, std::size_t nodes, Seconds ready) {
  const Scenario::JobFacts& facts = jobs_.FactsOf(row);
  const Configuration& given = jobs_.TrueConfiguration(row);
  RunningJob run{
      .work = facts.work, .ready = ready, .gpus = static_cast<double>(given.demand.gpus)};
  const double progress = scenario_.CheckpointsOn(nodes).progress();
  if (lost_)
    lost_->Begin(jobs_.observation.job[row], jobs_.observation.now, ready, run.gpus, progress);
  if (facts.process() != nullptr) return run;  // BeginWalks knows more
  run.rate = given.rate * (scenario_.options().speedup * progress);
  if (run.rate > 0) {
    const Seconds left = std::max(0.0, run.work - jobs_.observation.done_work[row]) / run.rate;
    run.finish = times_.EndOf(ready + left, ready);
  }
  return run;
}

void SimulatedCluster::BeginWalks() {
  walks_.BeginStarted(&jobs_, network_ ? &*network_ : nullptr, times_);
}

ApplyReport SimulatedCluster::ApplyShares(std::span<const TimeShare> shares) {
  Observation& o = jobs_.observation;
  ApplyReport report;
  report.refused = ValidateShares(o, shares);
  if (!report.refused.ok()) return report;
  std::vector<double> rate(o.job.size(), 0.0);
  std::vector<double> gpus(o.job.size(), 0.0);
  const auto add = [&](std::int32_t row, std::int32_t configuration, double share, double part) {
    const Configuration& c = (*scenario_.facts(o.job[At(row)]).table)[configuration];
    rate[At(row)] += share * c.rate * scenario_.options().speedup;
    gpus[At(row)] += share * part * c.demand.gpus;
  };
  for (const TimeShare& share : shares) {
    const bool paired = share.partner_row >= 0;
    add(share.row, share.configuration, share.share, paired ? 0.5 : 1);
    if (paired) add(share.partner_row, share.partner_configuration, share.share, 0.5);
  }
  applied_decision_ = o.decision;
  o.events.Clear();
  jobs_.ClearSlots();
  for (std::size_t r = 0; r < rate.size(); ++r) {
    if (!(rate[r] > 0)) continue;
    JobRecord& record = jobs_.records[At(o.job[r])];
    if (o.attained_seconds[r] == 0) record.first_start = o.now;
    const double work = scenario_.facts(o.job[r]).work;
    const Seconds finish = o.now + std::max(0.0, work - o.done_work[r]) / rate[r];
    jobs_.Run(static_cast<std::int32_t>(r), {work, o.now, rate[r], finish, gpus[r]});
  }
  jobs_.FindFirstFinish();
  timeline_.Note(PointNow(jobs_.gpus_used));
  last_decision_ = o.now;
  return report;
}

}  // namespace allot
