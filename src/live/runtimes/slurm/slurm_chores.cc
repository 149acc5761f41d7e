#include "live/runtimes/slurm/slurm_chores.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

namespace allot {

void SlurmChores::Add(SlurmChore chore, std::uint32_t job, std::function<Status()> act) {
  asked_.push_back({{chore, job}, std::move(act)});
}

void SlurmChores::Do() {
  std::set<Key> keys;
  for (const Asked& asked : asked_) keys.insert(asked.key);
  std::erase_if(refused_, [&](const auto& entry) { return !keys.contains(entry.first); });
  std::stable_sort(asked_.begin(), asked_.end(),
                   [](const Asked& a, const Asked& b) { return a.key.first < b.key.first; });
  const Seconds begin = clock_();
  for (const Asked& asked : asked_) {
    if (clock_() - begin > kMostTime) break;
    Try(asked);
  }
  asked_.clear();
}

void SlurmChores::Try(const Asked& asked) {
  const auto before = refused_.find(asked.key);
  if (before != refused_.end() && clock_() < before->second.until) return;
  const Status done = asked.act();
  if (done.ok()) {
    refused_.erase(asked.key);
    return;
  }
  if (before == refused_.end()) spdlog::warn("job {}: {}", asked.key.second, done.message());
  Refusal& refusal = refused_[asked.key];
  refusal.until = clock_() + refusal.rest;
  refusal.rest = std::min(kLongestRest, 2 * refusal.rest);
}

}  // namespace allot
