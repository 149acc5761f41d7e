#include "live/runtimes/kubernetes/counted_workers.h"

#include <algorithm>
#include <utility>

#include "core/strings.h"

namespace allot {
namespace {

std::int64_t NumberOfWorker(const std::string& worker) {
  return ParseInteger(std::string_view(worker).substr(worker.rfind('.') + 1)).value_or(0);
}

}  // namespace

void CountedWorkers::Begin(const std::string& job, std::span<const std::int64_t> numbers) {
  begun_ = true;
  for (const std::int64_t number : numbers) {
    Claim claim;
    claim.seen.id = fmt::format("{}.{}", job, number);
    claim.seen.job = job;
    claim.seen.gpus = 1;
    claims_.emplace(claim.seen.id, claim);
  }
}

void CountedWorkers::Add(std::span<const WorkerRequest> workers) {
  begun_ = true;
  for (const WorkerRequest& worker : workers) {
    Claim claim;
    claim.seen.id = worker.worker;
    claim.seen.job = worker.worker.substr(0, worker.worker.rfind('.'));
    claim.seen.gpus = claim.wish = worker.gpus;
    claim.wish_node = worker.node;
    claims_.emplace(worker.worker, std::move(claim));
  }
}

void CountedWorkers::Withdraw(std::span<const WorkerRequest> workers) {
  for (const WorkerRequest& worker : workers) claims_.erase(worker.worker);
}

void CountedWorkers::Stop(const std::string& worker) {
  const auto found = claims_.find(worker);
  if (found != claims_.end()) found->second.stopped = true;
}

void CountedWorkers::StopAll() {
  for (auto& [id, claim] : claims_) claim.stopped = true;
}

void CountedWorkers::LetGo(const std::string& reason) {
  begun_ = false;
  for (auto& [id, claim] : claims_) {
    claim.stopped = true;
    claim.pod.clear();
    claim.seen.state = WorkerState::kEnded;
    claim.seen.reason = reason;
  }
}

GpuCount CountedWorkers::wanted() const {
  return static_cast<GpuCount>(std::count_if(claims_.begin(), claims_.end(),
                                             [](const auto& one) { return !one.second.stopped; }));
}

std::vector<std::int64_t> CountedWorkers::numbers() const {
  std::vector<std::int64_t> numbers;
  for (const auto& [id, claim] : claims_) {
    if (!claim.stopped) numbers.push_back(NumberOfWorker(id));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

bool CountedWorkers::Holds(const std::string& pod) const {
  return std::any_of(claims_.begin(), claims_.end(),
                     [&](const auto& each) { return each.second.pod == pod; });
}

std::optional<std::string> CountedWorkers::PodOf(const std::string& worker) const {
  const auto found = claims_.find(worker);
  if (found == claims_.end() || found->second.pod.empty()) return std::nullopt;
  return found->second.pod;
}

void CountedWorkers::Match(const std::vector<WorkerPod>& pods, std::optional<GpuCount> most) {
  std::map<std::string, const WorkerPod*> staying, ending;  // by uid, that nobody claims
  for (const WorkerPod& pod : pods) (pod.deleting ? ending : staying)[pod.uid] = &pod;
  std::map<std::string, const WorkerPod*> pod_of;  // by worker
  const auto give = [&pod_of](std::map<std::string, const WorkerPod*>& from, Claim& claim) {
    if (from.empty() || pod_of.contains(claim.seen.id)) return;
    const auto same = from.find(claim.pod);
    const auto given = same == from.end() ? from.begin() : same;
    pod_of[claim.seen.id] = given->second;
    from.erase(given);
  };
  const auto keep = [&](std::map<std::string, const WorkerPod*>& from, bool stopped) {
    for (auto& [id, claim] : claims_) {
      if (claim.stopped == stopped && from.contains(claim.pod)) give(from, claim);
    }
  };
  const auto fill = [&](std::map<std::string, const WorkerPod*>& from, bool stopped) {
    for (auto& [id, claim] : claims_) {
      if (claim.stopped == stopped) give(from, claim);
    }
  };
  keep(staying, false);
  fill(staying, false);
  keep(ending, true);
  keep(staying, true);
  fill(ending, true);
  fill(staying, true);
  for (auto& [id, claim] : claims_) {
    if (claim.seen.state == WorkerState::kEnded) continue;
    const auto found = pod_of.find(id);
    See(found == pod_of.end() ? nullptr : found->second, &claim);
  }
  GpuCount beyond = most ? wanted() - *most : 0;
  for (auto& [id, claim] : claims_) {
    if (beyond <= 0 || claim.stopped || !claim.pod.empty()) continue;
    claim.stopped = true;
    claim.seen.state = WorkerState::kEnded;
    claim.seen.reason = "its Job has no pod left for it";
    --beyond;
  }
}

void CountedWorkers::See(const WorkerPod* pod, Claim* claim) const {
  RuntimeWorker& seen = claim->seen;
  claim->pod = pod == nullptr ? "" : pod->uid;
  if (pod == nullptr) {
    // Nobody ends it as late: Kubernetes' controller waits before it replaces a pod that failed.
    seen.state = claim->stopped ? WorkerState::kEnded : WorkerState::kStarting;
    seen.node.clear();
    seen.preparing = !claim->stopped;
    if (claim->stopped) seen.reason = "it was stopped";
    return;
  }
  const bool runs = pod->phase == PodPhase::kRunning;
  seen.state = runs ? WorkerState::kReady : WorkerState::kStarting;
  seen.preparing = !runs && (pod->gated || pod->preparing);
  seen.pending = pod->gated ? std::nullopt : pod->pending;
  if (seen.node != pod->node) seen.gpus = 0;
  seen.node = pod->node;
}

void CountedWorkers::KeepGpus(GpusOfNodes* held) {
  for (auto& [id, claim] : claims_) {
    if (claim.pod.empty() || claim.seen.node.empty()) continue;
    std::uint64_t& used = (*held)[claim.seen.node];
    if ((used & claim.seen.gpus) != 0) claim.seen.gpus = 0;
    used |= claim.seen.gpus;
  }
}

void CountedWorkers::TakeGpus(GpusOfNodes* held) {
  for (auto& [id, claim] : claims_) {
    RuntimeWorker& seen = claim.seen;
    if (claim.pod.empty() || seen.node.empty() || seen.gpus != 0) continue;
    std::uint64_t& used = (*held)[seen.node];
    const bool as_wished = claim.wish_node == seen.node && (used & claim.wish) == 0;
    const std::uint64_t free = ~used & (used + 1);  // the lowest; 0: none
    seen.gpus = as_wished && claim.wish != 0 ? claim.wish : std::max<std::uint64_t>(free, 1);
    used |= seen.gpus;
  }
}

void CountedWorkers::Show(std::vector<RuntimeWorker>* workers) {
  for (const auto& [id, claim] : claims_) workers->push_back(claim.seen);
  std::erase_if(claims_,
                [](const auto& one) { return one.second.seen.state == WorkerState::kEnded; });
}

}  // namespace allot
