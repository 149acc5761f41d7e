#pragma once
// Joins of workers that their platform is asked about (WorkerHub::AskIdentity), with what their
// connections have said since. One thread.

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
    std::vector<nlohmann::json> said;  // the join first
  };

  // Its number, which is never given again.
  std::uint64_t Hold(const ConnectionPtr& connection, const nlohmann::json& join);
  bool Holds(const ConnectionPtr& connection) const { return numbers_.contains(connection); }
  // False: that is more than a worker says before it is welcomed.
  bool Add(const ConnectionPtr& connection, const nlohmann::json& message);

  std::optional<Join> Release(std::uint64_t number);  // nullopt: its connection has ended
  void End(const ConnectionPtr& connection);

 private:
  static constexpr std::size_t kMostSaid = 8;

  std::map<std::uint64_t, Join> joins_;
  std::map<ConnectionPtr, std::uint64_t> numbers_;
  std::uint64_t next_ = 0;
};

}  // namespace allot
