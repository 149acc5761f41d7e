#pragma once
// Joins that wait until the platform has confirmed the worker's identity (WorkerHub::AskIdentity),
// with the messages that their connections have sent since. One thread.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "live/workers/line_server.h"

namespace allot {

class WaitingJoins {
 public:
  using ConnectionPtr = LineServer::ConnectionPtr;
  struct Join {
    ConnectionPtr connection;
    std::vector<nlohmann::json> messages;  // the join first
  };

  // Returns the number of the join, which is never used again.
  std::uint64_t Insert(const ConnectionPtr& connection, const nlohmann::json& join);
  bool Contains(const ConnectionPtr& connection) const { return numbers_.contains(connection); }
  // False if there are more messages than a worker sends before it is welcomed.
  bool AddMessage(const ConnectionPtr& connection, const nlohmann::json& message);

  std::optional<Join> Extract(std::uint64_t number);  // nullopt if its connection has ended
  void Erase(const ConnectionPtr& connection);

 private:
  static constexpr std::size_t kMostMessages = 8;

  std::map<std::uint64_t, Join> joins_;
  std::map<ConnectionPtr, std::uint64_t> numbers_;
  std::uint64_t next_ = 0;
};

}  // namespace allot
