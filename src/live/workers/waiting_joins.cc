#include "live/workers/waiting_joins.h"

#include <utility>

namespace allot {

std::uint64_t WaitingJoins::Insert(const ConnectionPtr& connection, const nlohmann::json& join) {
  numbers_[connection] = next_;
  joins_[next_] = {connection, {join}};
  return next_++;
}

bool WaitingJoins::AddMessage(const ConnectionPtr& connection, const nlohmann::json& message) {
  std::vector<nlohmann::json>& messages = joins_.at(numbers_.at(connection)).messages;
  if (messages.size() >= kMostMessages) return false;
  messages.push_back(message);
  return true;
}

std::optional<WaitingJoins::Join> WaitingJoins::Extract(std::uint64_t number) {
  auto node = joins_.extract(number);
  if (node.empty()) return std::nullopt;
  numbers_.erase(node.mapped().connection);
  return std::move(node.mapped());
}

void WaitingJoins::Erase(const ConnectionPtr& connection) {
  const auto found = numbers_.find(connection);
  if (found == numbers_.end()) return;
  joins_.erase(found->second);
  numbers_.erase(found);
}

}  // namespace allot
