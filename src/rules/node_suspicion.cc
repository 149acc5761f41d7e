#include "rules/node_suspicion.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace allot {
namespace {

// Chances of the model. Sources: docs/adr/0098-blame-by-node.md.
constexpr double kBadFails = 0.97;      // a start on a bad node, or of a broken job
constexpr double kChance = 0.004;       // a start that neither explains
constexpr double kBadNode = 0.001;      // a node of which nothing is known
constexpr double kBadRepaired = 0.05;   // a node that was just repaired
constexpr double kBadReadmitted = 0.3;  // a node whose avoidance just ended
constexpr double kBadAvoided = 0.99;
constexpr double kBrokenJob = 0.15;  // of a user of whom nothing is known, worth two jobs
constexpr double kUserJobs = 2;
constexpr Seconds kForgetUser = 6 * 3600;
constexpr std::size_t kMostAccusers = 64;  // of one node: the latest

double LogOdds(double chance) { return std::log(chance / (1 - chance)); }
double Chance(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

bool Contains(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool RanOn(const TriedJob& job, std::string_view node) {
  return std::any_of(job.trials.begin(), job.trials.end(), [node](const StartTrial& trial) {
    return trial.succeeded && Contains(trial.nodes, node);
  });
}

double Decay(const TriedUser& user, Seconds now) {
  return std::exp(-std::max(0.0, now - user.at) / kForgetUser);
}

}  // namespace

// ---- events ----

void NodeSuspicion::Fail(const std::string& job_name, const std::string& user,
                         std::span<const std::string> nodes, Seconds now, bool together) {
  TriedJob& job = JobOf(job_name, user);
  std::vector<std::string> all(nodes.begin(), nodes.end());
  int failures = 0;
  bool succeeded = false;
  if (together) {
    const auto latest = std::max_element(
        job.trials.begin(), job.trials.end(),
        [](const StartTrial& a, const StartTrial& b) { return a.failed_at < b.failed_at; });
    if (latest != job.trials.end() && latest->failures > 0) {
      all.insert(all.end(), latest->nodes.begin(), latest->nodes.end());
      failures = latest->failures - 1;
      succeeded = latest->succeeded;
      job.trials.erase(latest);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  auto trial = std::find_if(job.trials.begin(), job.trials.end(),
                            [&](const StartTrial& known) { return known.nodes == all; });
  if (trial == job.trials.end()) {
    trial = job.trials.insert(job.trials.end(), {all, failures, succeeded, now});
  }
  ++trial->failures;
  trial->failed_at = now;
  for (const std::string& name : all) {
    TriedNode& node = NodeOf(name);
    if (node.avoided || Contains(node.accusers, job.name)) continue;
    node.accusers.push_back(job.name);
    if (node.accusers.size() <= kMostAccusers) continue;
    const std::string oldest = node.accusers.front();
    node.accusers.erase(node.accusers.begin());
    const auto its = jobs_.find(oldest);
    if (its != jobs_.end() && its->second.over) EndJob(oldest, false, now);
  }
  if (job.verdict == JobVerdict::kNone && CountOwnFailures(job) > 1) {
    Judge(&job, JobVerdict::kBroken, now);
  }
}

void NodeSuspicion::Succeed(const std::string& job_name, const std::string& user,
                            std::span<const std::string> nodes, Seconds now) {
  TriedJob& job = JobOf(job_name, user);
  Judge(&job, JobVerdict::kSound, now);
  std::vector<std::string> all(nodes.begin(), nodes.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  auto same = job.trials.end();
  for (auto trial = job.trials.begin(); trial != job.trials.end(); ++trial) {
    if (std::includes(all.begin(), all.end(), trial->nodes.begin(), trial->nodes.end())) {
      trial->failures = 0;
    }
    if (trial->nodes == all) same = trial;
  }
  if (same == job.trials.end()) same = job.trials.insert(same, {all, 0, true, 0});
  same->succeeded = true;
  for (const std::string& name : all) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end() || found->second.avoided) continue;
    TriedNode& node = found->second;
    ClearAccusers(&node);
    node.prior = std::max(LogOdds(kBadNode), node.prior + std::log(1 - kBadFails));
    if (node.prior == LogOdds(kBadNode)) nodes_.erase(found);  // as if nothing had ever been
  }
}

void NodeSuspicion::EndJob(const std::string& name, bool failed, Seconds now) {
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) return;
  TriedJob& job = found->second;
  const bool own = FailuresOf(name) == 0 || CountOwnFailures(job) > 0;
  if (failed && own && job.verdict == JobVerdict::kNone) Judge(&job, JobVerdict::kBroken, now);
  job.over = true;
  const bool accuses = std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& node) {
    return Contains(node.second.accusers, name);
  });
  if (!accuses) jobs_.erase(found);
}

void NodeSuspicion::Repair(const std::string& name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) {
    NodeOf(name).prior = LogOdds(kBadRepaired);
    return;
  }
  TriedNode& node = found->second;
  node.prior = std::max(node.prior, LogOdds(node.avoided ? kBadReadmitted : kBadRepaired));
  node.avoided = false;
  ClearAccusers(&node);
}

void NodeSuspicion::Avoid(const std::string& name, Seconds until) {
  TriedNode& node = NodeOf(name);
  node.avoided = true;
  node.avoided_until = until;
  ++node.avoidances;
  for (const std::string& accuser : node.accusers) {
    const auto job = jobs_.find(accuser);
    const bool broken = job != jobs_.end() && job->second.verdict == JobVerdict::kBroken;
    if (broken && CountOwnFailures(job->second) == 0) Excuse(&job->second);
  }
}

void NodeSuspicion::Readmit(const std::string& name) {
  TriedNode& node = NodeOf(name);
  node.avoided = false;
  node.prior = LogOdds(kBadReadmitted);
  ClearAccusers(&node);
}

// ---- answers ----

std::vector<SuspectNode> NodeSuspicion::FindSuspects(std::size_t cluster_nodes, Seconds now,
                                                     const FailureRule& rule) const {
  const double least_odds = rule.suspect / (1 - rule.suspect);
  std::vector<SuspectNode> suspects;
  std::size_t avoided = 0;
  for (const auto& [name, node] : nodes_) {
    if (node.avoided) ++avoided;
    if (node.avoided || node.accusers.empty()) continue;
    const double odds = OddsOf(node, now);
    if (odds < least_odds) continue;
    const double doubled = std::ldexp(kAvoidFirst, std::min(node.avoidances, 20));
    suspects.push_back({name, odds, AccusersOf(name), now + std::min(kAvoidLongest, doubled)});
  }
  std::stable_sort(suspects.begin(), suspects.end(),
                   [](const SuspectNode& a, const SuspectNode& b) { return a.odds > b.odds; });
  const auto part = static_cast<std::size_t>(rule.at_most * static_cast<double>(cluster_nodes));
  const std::size_t all_but_one = cluster_nodes < 2 ? 0 : cluster_nodes - 1;
  const std::size_t most = std::min(all_but_one, std::max<std::size_t>(1, part));
  suspects.resize(std::min(suspects.size(), most - std::min(most, avoided)));
  return suspects;
}

bool NodeSuspicion::IsAvoided(std::string_view node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && found->second.avoided;
}

double NodeSuspicion::OddsOf(const std::string& node, Seconds now) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? kBadNode : OddsOf(found->second, now);
}

double NodeSuspicion::OddsOf(const TriedNode& node, Seconds now) const {
  double log_odds = node.prior;
  for (const std::string& accuser : node.accusers) {
    const auto found = jobs_.find(accuser);
    if (found == jobs_.end()) continue;  // a damaged journal has lost it
    const TriedJob& job = found->second;
    const double broken = BrokenChance(job, node.name, now);
    for (const StartTrial& trial : job.trials) {
      if (trial.failures == 0 || !Contains(trial.nodes, node.name)) continue;
      const double else_fails = 1 - SoundChance(trial, node.name) * (1 - kBadFails * broken);
      log_odds += std::log((kBadFails + (1 - kBadFails) * else_fails) / else_fails);
      break;  // however often: a job is one piece of evidence
    }
  }
  return std::exp(log_odds);
}

std::vector<std::string> NodeSuspicion::FailedNodesOf(const std::string& name, Seconds now) const {
  const auto found = jobs_.find(name);
  return found == jobs_.end() ? std::vector<std::string>() : FailedNodesOf(found->second, now);
}

std::vector<std::string> NodeSuspicion::FailedNodesOf(const TriedJob& job, Seconds now) {
  std::vector<std::string> nodes;
  for (const StartTrial& trial : job.trials) {
    if (trial.failures == 0 || now - trial.failed_at >= kRetryElsewhere) continue;
    for (const std::string& node : trial.nodes) {
      const bool ran = RanOn(job, node);
      if (FailuresOf(job, node) > (ran ? 1 : 0) && !Contains(nodes, node)) nodes.push_back(node);
    }
  }
  return nodes;
}

int NodeSuspicion::FailuresOf(const std::string& job, const std::string& node) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? 0 : FailuresOf(found->second, node);
}

int NodeSuspicion::FailuresOf(const std::string& job) const {
  int failures = 0;
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return failures;
  for (const StartTrial& trial : found->second.trials) failures += trial.failures;
  return failures;
}

int NodeSuspicion::FailuresOf(const TriedJob& job, std::string_view node) {
  int failures = 0;
  for (const StartTrial& trial : job.trials) {
    if (Contains(trial.nodes, node)) failures += trial.failures;
  }
  return failures;
}

bool NodeSuspicion::HasRunOn(const std::string& job, const std::vector<std::string>& nodes) const {
  const auto found = jobs_.find(job);
  return found != jobs_.end() && std::ranges::all_of(nodes, [&](const std::string& node) {
           return FailuresOf(found->second, node) == 0 && RanOn(found->second, node);
         });
}

std::vector<std::string> NodeSuspicion::AccusersOf(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? std::vector<std::string>() : found->second.accusers;
}

// ---- the model ----

TriedJob& NodeSuspicion::JobOf(const std::string& name, const std::string& user) {
  TriedJob& job = jobs_[name];
  if (job.over) job = {};  // another job has its name
  job.name = name;
  job.user = user;
  return job;
}

TriedNode& NodeSuspicion::NodeOf(const std::string& name) {
  const auto [found, added] = nodes_.try_emplace(name);
  if (added) {
    found->second.name = name;
    found->second.prior = LogOdds(kBadNode);
  }
  return found->second;
}

std::ptrdiff_t NodeSuspicion::CountOwnFailures(const TriedJob& job) const {
  return std::ranges::count_if(job.trials, [this](const StartTrial& trial) {
    return trial.failures > 0 &&
           std::ranges::none_of(trial.nodes, [this](const auto& node) { return IsAvoided(node); });
  });
}

void NodeSuspicion::Excuse(TriedJob* job) {
  TriedUser& user = users_[job->user];
  user.broken = std::max(0.0, user.broken - 1);
  job->verdict = JobVerdict::kNone;
}

void NodeSuspicion::Judge(TriedJob* job, JobVerdict verdict, Seconds now) {
  TriedUser& user = users_[job->user];
  const double kept = Decay(user, now);
  user.name = job->user;
  user.broken *= kept;
  user.sound *= kept;
  user.at = now;
  if (job->verdict == verdict) return;
  if (job->verdict == JobVerdict::kBroken) user.broken = std::max(0.0, user.broken - 1);
  job->verdict = verdict;
  (verdict == JobVerdict::kBroken ? user.broken : user.sound) += 1;
}

void NodeSuspicion::ClearAccusers(TriedNode* node) {
  const std::vector<std::string> accusers = std::exchange(node->accusers, {});
  for (const std::string& name : accusers) {
    const auto job = jobs_.find(name);
    if (job != jobs_.end() && job->second.over) EndJob(name, false, 0);
  }
}

double NodeSuspicion::BadChance(std::string_view name) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return kBadNode;
  return found->second.avoided ? kBadAvoided : Chance(found->second.prior);
}

// That neither chance nor a node of the start fails it, without one of the nodes.
double NodeSuspicion::SoundChance(const StartTrial& trial, std::string_view without) const {
  double sound = 1 - kChance;
  for (const std::string& node : trial.nodes) {
    if (node != without) sound *= 1 - kBadFails * BadChance(node);
  }
  return sound;
}

// That the job fails by itself: by its user's other recent jobs, and by its starts on other nodes.
double NodeSuspicion::BrokenChance(const TriedJob& job, std::string_view node, Seconds now) const {
  double broken = 0, sound = 0;
  if (const auto found = users_.find(job.user); found != users_.end()) {
    const double kept = Decay(found->second, now);
    broken = found->second.broken * kept - (job.verdict == JobVerdict::kBroken ? 1 : 0);
    sound = found->second.sound * kept - (job.verdict == JobVerdict::kSound ? 1 : 0);
  }
  broken = std::max(0.0, broken);
  sound = std::max(0.0, sound);
  const double prior = (kUserJobs * kBrokenJob + broken) / (kUserJobs + broken + sound);
  double log_odds = LogOdds(std::clamp(prior, 0.01, 0.9));
  for (const StartTrial& trial : job.trials) {
    if (Contains(trial.nodes, node)) continue;
    const double else_fails = 1 - SoundChance(trial, "");
    if (trial.failures > 0) {
      log_odds += std::log((kBadFails + (1 - kBadFails) * else_fails) / else_fails);
    }
    if (trial.succeeded) log_odds += std::log(1 - kBadFails);
  }
  return Chance(log_odds);
}

}  // namespace allot
