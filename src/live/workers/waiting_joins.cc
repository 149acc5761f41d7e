#include "live/workers/waiting_joins.h"

#include <utility>

namespace allot {

std::uint64_t WaitingJoins::Hold(const ConnectionPtr& connection, const nlohmann::json& join) {
  numbers_[connection] = next_;
  joins_[next_] = {connection, {join}};
  return next_++;
}

bool WaitingJoins::Add(const ConnectionPtr& connection, const nlohmann::json& message) {
  std::vector<nlohmann::json>& said = joins_.at(numbers_.at(connection)).said;
  if (said.size() >= kMostSaid) return false;
  said.push_back(message);
  return true;
}

std::optional<WaitingJoins::Join> WaitingJoins::Release(std::uint64_t number) {
  auto node = joins_.extract(number);
  if (node.empty()) return std::nullopt;
  numbers_.erase(node.mapped().connection);
  return std::move(node.mapped());
}

void WaitingJoins::End(const ConnectionPtr& connection) {
  const auto found = numbers_.find(connection);
  if (found == numbers_.end()) return;
  joins_.erase(found->second);
  numbers_.erase(found);
}

}  // namespace allot
