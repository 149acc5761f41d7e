#include "sim/failed_starts.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "core/check.h"
#include "core/index.h"

namespace allot {
namespace {

// As many failures in a row end a job of the daemon (live/workers/start_backoff.h).
constexpr int kMostFailures = 6;

// Jobs and nodes have the names of their numbers.
std::int32_t NumberOf(const std::string& name) {
  std::int32_t number = -1;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

template <typename Index>
Seconds FirstOf(const std::set<std::pair<Seconds, Index>>& times) {
  return times.empty() ? kNever : times.begin()->first;
}

}  // namespace

FailedStarts::FailedStarts(const Scenario& scenario)
    : scenario_(scenario),
      plan_(*scenario.start_plan()),
      rule_(scenario.options().rules == nullptr ? FailureRule{}
                                                : scenario.options().rules->failures()),
      bad_(scenario.cluster().nodes().size()) {
  for (std::size_t n = 0; n < bad_.size(); ++n) {
    const auto node = static_cast<NodeIndex>(n);
    const auto& times = plan_.BadTimesOf(node);
    if (!times.empty()) repairs_.emplace(times.front().up, node);
  }
}

// ---- what jobs do ----

Seconds FailedStarts::Start(JobIndex job, std::span<const NodeShare> shares, Seconds now,
                            Seconds ready) {
  Tried& tried = tried_[job];
  tried.nodes.clear();
  for (const NodeShare& share : shares) tried.nodes.push_back(share.node);
  const auto bad =
      std::ranges::count_if(tried.nodes, [&](NodeIndex node) { return IsBad(node, now); });
  const Seconds after = plan_.FailsAfter(job, tried.starts++, static_cast<std::size_t>(bad));
  const bool fails = after < kNever;
  Schedule(job, &tried, fails ? std::max(now, ready) + after : kNever,
           fails ? kNever : now + NodeSuspicion::kProven);
  return tried.fails;
}

void FailedStarts::Stop(JobIndex job) {
  const auto found = tried_.find(job);
  if (found != tried_.end()) Schedule(job, &found->second, kNever, kNever);
}

void FailedStarts::End(JobIndex job, Seconds now) {
  const auto found = tried_.find(job);
  if (found == tried_.end()) return;
  ProveUntil(now);
  if (found->second.proves < kNever) Prove(job, now);
  suspicion_.EndJob(std::to_string(job), false, now);
  leaving_.erase(job);
  tried_.erase(found);
}

bool FailedStarts::WillFail(JobIndex job) const {
  const auto found = tried_.find(job);
  return found != tried_.end() && found->second.fails < kNever;
}

void FailedStarts::Schedule(JobIndex job, Tried* tried, Seconds fails, Seconds proves) {
  failing_.erase({tried->fails, job});
  proving_.erase({tried->proves, job});
  telling_.erase({tried->proves, job});
  tried->fails = fails;
  tried->proves = proves;
  if (fails < kNever) failing_.emplace(fails, job);
  if (proves < kNever) proving_.emplace(proves, job);
  if (proves < kNever && tried->accuses) telling_.emplace(proves, job);
}

// ---- what happens ----

Seconds FailedStarts::NextChange() const {
  Seconds next = std::min({FirstOf(failing_), FirstOf(repairs_), FirstOf(telling_)});
  for (const auto& [node, closed] : closed_) next = std::min(next, closed.until);
  return next;
}

FailedStarts::Changes FailedStarts::Advance(Seconds now) {
  Changes changes;
  for (Seconds at = NextChange(); at <= now; at = NextChange()) {
    const bool tells = FirstOf(telling_) <= at;
    ProveUntil(at);
    if (tells) {
      ActOnSuspects(at, &changes);
    } else if (FirstOf(repairs_) <= at) {
      Repair(repairs_.begin()->second, &changes);
    } else if (FirstOf(failing_) <= at) {
      Fail(failing_.begin()->second, at, &changes);
    } else {
      const auto due = std::ranges::find_if(
          closed_, [at](const auto& closed) { return closed.second.until <= at; });
      UseAgain(due->first, &changes);
    }
  }
  return changes;
}

void FailedStarts::ProveUntil(Seconds now) {
  while (FirstOf(proving_) <= now) Prove(proving_.begin()->second, proving_.begin()->first);
}

void FailedStarts::Prove(JobIndex job, Seconds at) {
  Tried& tried = tried_.at(job);
  Schedule(job, &tried, kNever, kNever);
  tried.failures = 0;
  suspicion_.Succeed(std::to_string(job), UserOf(job), NamesOf(tried.nodes), at);
}

void FailedStarts::Fail(JobIndex job, Seconds at, Changes* changes) {
  Tried& tried = tried_.at(job);
  Schedule(job, &tried, kNever, kNever);
  tried.accuses = true;
  leaving_.insert(job);
  const std::string name = std::to_string(job);
  const std::vector<std::string> nodes = NamesOf(tried.nodes);
  suspicion_.Fail(name, UserOf(job), nodes, at);
  const bool excused = std::ranges::any_of(
      nodes, [this](const std::string& node) { return suspicion_.IsAvoided(node); });
  if (!excused) ++tried.failures;
  ++figures_.failed;
  bool on_bad = false;
  for (const NodeIndex node : tried.nodes) {
    if (!IsBad(node, at)) continue;
    on_bad = true;
    if (bad_[At(node)].failures++ == 0) ++figures_.bad_nodes;
  }
  if (on_bad) ++figures_.on_bad_nodes;
  const bool given_up = tried.failures >= kMostFailures;
  if (given_up) {
    ++figures_.given_up;
    if (!plan_.IsBroken(job)) ++figures_.good_given_up;
    suspicion_.EndJob(name, true, at);
    leaving_.erase(job);
    tried_.erase(job);
  }
  (given_up ? changes->given_up : changes->failed).push_back(job);
  ActOnSuspects(at, changes);
}

// ---- what becomes of nodes ----

bool FailedStarts::IsBad(NodeIndex node, Seconds now) const {
  const auto& times = plan_.BadTimesOf(node);
  const std::size_t next = bad_[At(node)].next;
  return next < times.size() && times[next].down <= now && now < times[next].up;
}

void FailedStarts::Repair(NodeIndex node, Changes* changes) {
  const auto& times = plan_.BadTimesOf(node);
  BadTime& bad = bad_[At(node)];
  repairs_.erase({times[bad.next].up, node});
  bad = {.next = bad.next + 1};
  if (bad.next < times.size()) repairs_.emplace(times[bad.next].up, node);
  suspicion_.Repair(std::to_string(node));
  const auto closed = closed_.find(node);
  if (closed == closed_.end()) return;
  if (closed->second.drained) changes->put_back.push_back(node);
  closed_.erase(closed);
}

// Its operator has found nothing wrong with a drained node that is due before its repair.
void FailedStarts::UseAgain(NodeIndex node, Changes* changes) {
  const auto closed = closed_.find(node);
  if (closed->second.drained) {
    changes->put_back.push_back(node);
    suspicion_.Repair(std::to_string(node));
  } else {
    suspicion_.Readmit(std::to_string(node));
  }
  closed_.erase(closed);
}

void FailedStarts::ActOnSuspects(Seconds at, Changes* changes) {
  std::set<NodeIndex> named;
  for (const SuspectNode& suspect : suspicion_.FindSuspects(bad_.size(), at, rule_)) {
    const NodeIndex node = NumberOf(suspect.name);
    if (rule_.then != SuspectAction::kTell) {
      Close(suspect, at, changes);
    } else if (named_.contains(node)) {
      named.insert(node);
      continue;
    }
    CountAlarm(node, at);
    named.insert(node);
  }
  named_ = std::move(named);
}

void FailedStarts::Close(const SuspectNode& suspect, Seconds at, Changes* changes) {
  const NodeIndex node = NumberOf(suspect.name);
  const bool drains = rule_.then == SuspectAction::kDrain;
  const Seconds looked_at = IsBad(node, at) ? kNever : at + plan_.repair();
  closed_[node] = {drains ? looked_at : suspect.until, drains};
  if (drains) changes->drained.push_back(node);
  suspicion_.Avoid(suspect.name, closed_[node].until);
  for (const std::string& accuser : suspicion_.AccusersOf(suspect.name)) {
    const auto job = tried_.find(NumberOf(accuser));
    if (job == tried_.end()) continue;
    int& failures = job->second.failures;
    failures = std::max(0, failures - suspicion_.FailuresOf(accuser, suspect.name));
  }
}

void FailedStarts::CountAlarm(NodeIndex node, Seconds at) {
  BadTime& bad = bad_[At(node)];
  if (!IsBad(node, at)) {
    ++figures_.false_alarms;
  } else if (!bad.found) {
    bad.found = true;
    ++figures_.found;
    figures_.until_found += bad.failures;
  }
}

// ---- for the rules ----

std::vector<NodeIndex> FailedStarts::AvoidedNodes() const {
  std::vector<NodeIndex> nodes;
  for (const auto& [node, closed] : closed_) nodes.push_back(node);
  return nodes;
}

std::map<JobIndex, std::vector<NodeIndex>> FailedStarts::FindFailedNodes(
    const Observation& all) const {
  std::map<JobIndex, std::vector<NodeIndex>> failed;
  for (const JobIndex job : leaving_) {
    std::vector<NodeIndex> nodes;
    for (const std::string& node : suspicion_.FailedNodesOf(std::to_string(job), all.now)) {
      nodes.push_back(NumberOf(node));
    }
    if (!nodes.empty() && CanHold(all, job, nodes)) failed[job] = std::move(nodes);
  }
  return failed;
}

bool FailedStarts::CanHold(const Observation& all, JobIndex job,
                           const std::vector<NodeIndex>& without) const {
  std::vector<GpuCount> gpus(all.cluster->types().size(), 0);
  for (std::size_t n = 0; n < bad_.size(); ++n) {
    const auto node = static_cast<NodeIndex>(n);
    if (closed_.contains(node) || std::ranges::find(without, node) != without.end()) continue;
    gpus[At(all.cluster->nodes()[n].type)] += all.cluster->nodes()[n].capacity.gpus;
  }
  const GpuCount least = scenario_.workload().jobs[At(job)].lowest();
  return std::ranges::any_of(scenario_.facts(job).table->types(),
                             [&](GpuTypeIndex type) { return gpus[At(type)] >= least; });
}

// A job of which no user is known is a user's of its own.
std::string FailedStarts::UserOf(JobIndex job) const {
  const Workload& workload = scenario_.workload();
  const std::int32_t user = workload.jobs[At(job)].user;
  return user < 0 ? "job " + std::to_string(job) : workload.users[user];
}

std::vector<std::string> FailedStarts::NamesOf(const std::vector<NodeIndex>& nodes) const {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const NodeIndex node : nodes) names.push_back(std::to_string(node));
  return names;
}

}  // namespace allot
