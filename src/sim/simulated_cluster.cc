#include "sim/simulated_cluster.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "cluster/validate.h"
#include "core/check.h"
#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

// Where nothing arrives or ends for longer than so many intervals (a year of 300 s), the time
// between two decisions grows with it: each is this part of the quiet time. A misread unit can make
// a job last for millennia.
constexpr double kMostQuietDecisions = 100'000;

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

SimulatedCluster::SimulatedCluster(const Scenario& scenario) : scenario_(scenario) {
  const std::size_t jobs = scenario.workload().jobs.size();
  row_of_job_.assign(jobs, -1);
  // A point a completion, and the decisions. What is not used is not taken from the system.
  timeline_.reserve(2 * jobs);
  records_.resize(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    records_[i].job = static_cast<JobIndex>(i);
    records_[i].submit = scenario.workload().jobs[i].submit;
  }
  observation_.cluster = &scenario.cluster();
  BeginScaling();
  if (!scenario.node_events().empty()) {
    present_ = std::make_unique<ClusterSpec>(scenario.cluster());
    away_.resize(present_->nodes().size());
    observation_.cluster = present_.get();
    JoinLater();
  }
  observation_.user_names = &scenario.workload().users.names();
  observation_.group_names = &scenario.workload().groups.names();
  observation_.interval = scenario.options().interval;
  observation_.share_begin.assign(1, 0);
  holdings_.Reset(observation_, &observation_.free.emplace());
  belief_ = MakeBelief(scenario.options().beliefs, scenario);
  if (belief_ != nullptr && belief_->measured_after() != kNever) measured_at_.assign(jobs, 0);
  if (scenario.has_processes()) walks_.resize(jobs);
  if (scenario.options().whole_rounds) failures_.assign(jobs, 0);
  BeginTraining();
  AdvanceTo(NextTick(scenario.workload().jobs.front().submit));
  observation_.events.number = 1;
  if (!scenario.has_binding_rules()) return;
  rules_ = std::make_unique<SimulatedRules>(scenario);
  rules_->Show(observation_, true);
}

SimulatedCluster::SimulatedCluster(const Scenario& scenario, const Observation& start)
    : scenario_(scenario), observation_(start) {
  const std::size_t jobs = start.job.size();
  const std::size_t all = scenario.workload().jobs.size();
  ALLOT_CHECK(jobs <= all);
  Observation& o = observation_;
  ALLOT_CHECK(scenario.node_events().empty());
  o.cluster = &scenario.cluster();
  nodes_present_ = static_cast<std::int32_t>(scenario.cluster().nodes().size());
  o.decision = 0;
  last_event_ = o.now;
  row_of_job_.assign(all, -1);
  records_.resize(all);
  inverse_duration_.resize(jobs);
  if (scenario.options().whole_rounds) failures_.assign(all, 0);
  next_arrival_ = static_cast<JobIndex>(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    ALLOT_CHECK_EQ(At(o.job[i]), i);
    row_of_job_[i] = o.job[i];
    records_[i].job = o.job[i];
    records_[i].submit = o.submit[i];
    inverse_duration_[i] = 1.0 / scenario.workload().jobs[i].duration;
    if (o.running[i] < 0) continue;
    running_rows_.push_back(static_cast<std::int32_t>(i));
    runs_.push_back(RunOf(i, o.running[i], o.now));
    gpus_used_ += runs_.back().gpus;
  }
  for (std::size_t i = jobs; i < all; ++i) {
    records_[i].job = static_cast<JobIndex>(i);
    records_[i].submit = scenario.workload().jobs[i].submit;
  }
  FindFirstFinish();
  holdings_.Reset(o, &o.free.emplace());
  o.events.Clear();
  o.events.arrived.resize(jobs);
  std::iota(o.events.arrived.begin(), o.events.arrived.end(), 0);
  o.events.number = 1;
}

std::vector<JobRecord> SimulatedCluster::TakeRecords() { return std::move(records_); }

std::vector<TimelinePoint> SimulatedCluster::TakeTimeline() { return std::move(timeline_); }

Seconds SimulatedCluster::NextTick(Seconds time) const {
  const SimOptions& options = scenario_.options();
  return options.decide_on_events || options.whole_rounds ? time : NextInterval(time);
}

Seconds SimulatedCluster::NextInterval(Seconds time) const {
  const Seconds interval = scenario_.options().interval;
  const Seconds tick = std::ceil(time / interval) * interval;
  return tick >= time ? tick : tick + interval;
}

Seconds SimulatedCluster::NextEvent() const {
  Seconds event = NextJobEvent();
  const std::vector<NodeEvent>& nodes = scenario_.node_events();
  if (observation_.rows() == 0) return event;
  if (observation_.now < decide_at_) event = std::min(event, decide_at_);
  if (next_node_event_ == nodes.size()) return event;
  return std::min(event, nodes[next_node_event_].time);
}

Seconds SimulatedCluster::NextJobEvent() const {
  Seconds event = kNever;
  if (At(next_arrival_) < records_.size()) event = records_[At(next_arrival_)].submit;
  event = std::min(event, first_finish_);
  return measured_at_.empty() ? event : std::min(event, NextMeasurement());
}

void SimulatedCluster::FindFirstFinish() {
  first_finish_ = kNever;
  for (const Run& run : runs_) first_finish_ = std::min(first_finish_, run.finish);
}

Seconds SimulatedCluster::IntervalAfterNow() const {
  return (std::floor(observation_.now / observation_.interval) + 1) * observation_.interval;
}

Seconds SimulatedCluster::NextQuietDecision() const {
  const Seconds quiet = observation_.now - last_event_;
  if (quiet <= kMostQuietDecisions * observation_.interval) return IntervalAfterNow();
  return NextInterval(observation_.now + quiet / kMostQuietDecisions);
}

Seconds SimulatedCluster::InstantOf(Seconds event) const {
  if (scenario_.options().decide_on_events) return event;
  return std::max(NextTick(event), IntervalAfterNow());
}

bool SimulatedCluster::PromiseMatters() const {
  return !scenario_.options().whole_rounds && autoscaler_ == nullptr && observation_.rows() > 0 &&
         InstantOf(NextEvent()) > IntervalAfterNow();
}

bool SimulatedCluster::WaitForChange(Seconds holds_until) {
  // The first step also holds what came before the first decision, so that sums are complete.
  if (observation_.decision > 0) step_ = StepFacts{};
  const bool empty = observation_.rows() == 0;
  const Seconds event = NextEvent();
  if (empty && event == kNever) return false;
  if (applied_decision_ != observation_.decision) observation_.events.Clear();

  // The size of the cluster is thought about at every interval.
  if (autoscaler_ != nullptr) holds_until = 0;
  if (rules_ != nullptr) holds_until = std::min(holds_until, rules_->next_change());
  const Seconds next_quiet = NextQuietDecision();
  const Seconds next_event = InstantOf(event);
  if (scenario_.options().whole_rounds) {
    PassRound();
  } else if (empty && autoscaler_ != nullptr) {
    PassEmpty(next_event);
  } else if (empty) {
    AdvanceTo(next_event);
  } else if (!training_.empty()) {
    PassSteps(holds_until);
  } else {
    CheckNotStuck(event, holds_until);
    AdvanceTo(std::min(next_event, std::max(NextInterval(holds_until), next_quiet)));
    if (!measured_at_.empty()) MeasureRates();
  }
  if (autoscaler_ != nullptr) Scale();
  std::vector<EndedJob>& ended = observation_.events.ended;
  const auto by_job = [](const EndedJob& a, const EndedJob& b) { return a.job < b.job; };
  if (!std::is_sorted(ended.begin(), ended.end(), by_job)) {
    std::sort(ended.begin(), ended.end(), by_job);
  }
  ++observation_.decision;
  observation_.events.number = observation_.decision + 1;
  if (rules_ != nullptr) rules_->Show(observation_, true);
  return observation_.rows() > 0 || NextJobEvent() != kNever;
}

void SimulatedCluster::Stop(std::size_t row) {
  observation_.running[row] = -1;
  observation_.waiting_since[row] = observation_.now;
  ++records_[At(observation_.job[row])].preemptions;
}

Status SimulatedCluster::Validate(const Allocation& allocation) const {
  return ValidateAllocation(Observe(), allocation);
}

ApplyReport SimulatedCluster::Apply(const Allocation& allocation) {
  if (applied_decision_ == observation_.decision) return {};
  if (rules_ != nullptr) return ApplyRuled(allocation);
  if (!holdings_.Take(observation_, row_of_job_, running_rows_, allocation)) {
    return Refused(Validate(allocation));
  }
  return MakeChanges(allocation);
}

// What is legal in the view is so in full.
ApplyReport SimulatedCluster::ApplyRuled(const Allocation& answer) {
  Status legal = Validate(answer);
  if (legal.ok()) legal = rules_->Check(answer);
  if (!legal.ok()) return Refused(legal);
  const Allocation& meant = rules_->Meant(observation_, answer);
  if (!holdings_.Take(observation_, row_of_job_, running_rows_, meant)) {
    return Refused(ValidateAllocation(observation_, meant));
  }
  ApplyReport report = MakeChanges(meant);
  rules_->Show(observation_, false);
  return report;
}

ApplyReport SimulatedCluster::ApplyChanges(const AllocationChanges& changes) {
  if (applied_decision_ == observation_.decision) return {};
  if (!holdings_.TakeChanges(observation_, row_of_job_, changes)) {
    return Refused(ValidateChanges(observation_, changes));
  }
  return MakeChanges(changes.given);
}

ApplyReport SimulatedCluster::MakeChanges(const Allocation& given) {
  ApplyReport report;
  Observation& o = observation_;
  applied_decision_ = o.decision;
  o.events.Clear();
  requested_batches_ = given.requested_batches();
  if (!holdings_.changes().empty()) MoveShares(given, &report);
  if (!training_.empty()) PlaceTraining();
  if (given.has_partners() || !o.partner.empty()) FollowPartners(given);
  if (scenario_.options().whole_rounds) PlanRound();
  NotePoint({o.now, o.rows(), static_cast<std::int32_t>(running_rows_.size()), GpusUsed()});
  last_decision_ = o.now;
  return report;
}

void SimulatedCluster::MoveShares(const Allocation& given, ApplyReport* report) {
  Observation& o = observation_;
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
  new_runs_.clear();
  std::size_t slot = 0;
  const auto keep_runs_up_to = [&](std::int32_t row) {
    const auto from = static_cast<std::ptrdiff_t>(slot);
    while (slot < runs_.size() && running_rows_[slot] < row) ++slot;
    const auto to = static_cast<std::ptrdiff_t>(slot);
    new_running_rows_.insert(new_running_rows_.end(), running_rows_.begin() + from,
                             running_rows_.begin() + to);
    new_runs_.insert(new_runs_.end(), runs_.begin() + from, runs_.begin() + to);
  };
  for (const Holdings::Change& change : holdings_.changes()) {
    const std::size_t row = At(change.row);
    o.events.changed.push_back(change.row);  // they ascend
    keep_shares_up_to(row);
    keep_runs_up_to(change.row);
    const std::span<const NodeShare> held(o.shares.data() + copied,
                                          At(o.share_begin[row + 1] - copied));
    copied = o.share_begin[row + 1];
    o.share_begin[next++] = static_cast<std::int32_t>(new_shares_.size());
    const Run* const before = o.running[row] >= 0 ? &runs_[slot++] : nullptr;
    if (before != nullptr) gpus_used_ -= before->gpus;
    if (change.entry < 0) {
      Stop(row);
      ++report->preempted;
      continue;
    }
    const Allocation::Entry& entry = given.entries()[At(change.entry)];
    new_running_rows_.push_back(change.row);
    const bool same_shape =
        before != nullptr && SameShape(o, row, entry, held, given.shares(entry));
    new_runs_.push_back(Give(entry, row, before, same_shape, report));
    gpus_used_ += new_runs_.back().gpus;
    const auto shares = given.shares(entry);
    new_shares_.insert(new_shares_.end(), shares.begin(), shares.end());
  }
  keep_shares_up_to(o.job.size());
  keep_runs_up_to(o.rows());
  o.share_begin[next] = static_cast<std::int32_t>(new_shares_.size());
  std::swap(o.shares, new_shares_);
  std::swap(running_rows_, new_running_rows_);
  std::swap(runs_, new_runs_);
  if (!walks_.empty()) BeginWalks();
  FindFirstFinish();
}

SimulatedCluster::Run SimulatedCluster::Give(const Allocation::Entry& entry, std::size_t row,
                                             const Run* before, bool same_shape,
                                             ApplyReport* report) {
  Observation& o = observation_;
  JobRecord& record = records_[At(o.job[row])];
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
  if (rules_ != nullptr) rules_->Given(o.job[row], o.now, first);
  o.running[row] = entry.configuration;
  o.waiting_since[row] = o.now;
  const TrainingRules& rules = scenario_.options().training;
  const bool trains = scenario_.facts(o.job[row]).application() != nullptr;
  const bool free_first = first && !(trains && rules.first_start);
  Seconds ready = o.now + (free_first ? 0.0 : o.restart_cost[row]) +
                  (launch ? scenario_.options().launch_cost : 0.0);
  if (trains && rules.free_moves && same_shape) ready = std::max(before->ready, o.now);
  if (!measured_at_.empty()) measured_at_[At(o.job[row])] = ready;
  return RunOf(row, entry.configuration, ready);
}

}  // namespace allot
