#pragma once
// A worker at the EpochStore of rank 0 of its epoch: sets its own keys and gets those of its peers.
// One thread. Of what the store says, nothing counts that has not the code of its place; a
// connection that breaks, or leads to somebody else, is made again.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "auth/line_session.h"
#include "elastic/line_socket.h"

namespace allot {

struct StorePlace {
  std::string host;
  std::uint16_t port = 0;
  std::string worker;  // whose store it is
};

class EpochStoreVisit {
 public:
  // `look` is called every few milliseconds while waiting, and may throw to end it.
  EpochStoreVisit(std::string job, std::string worker, const std::string& token, std::int64_t epoch,
                  StorePlace place, std::function<void()> look);

  void Set(const std::string& key, const std::vector<std::uint8_t>& value);
  // Waits until a member has set it. RunError after `patience`.
  std::vector<std::uint8_t> Get(const std::string& key, std::chrono::milliseconds patience);

 private:
  using Clock = std::chrono::steady_clock;

  bool Connected(Clock::time_point until);
  std::optional<std::string> HearLine(Clock::time_point until);
  void Say(const char* what, const std::string& key, const std::string* digits);

  const std::string job_, worker_, token_;
  const std::int64_t epoch_;
  const StorePlace place_;
  const std::function<void()> look_;
  std::map<std::string, std::string> own_;    // in digits
  std::map<std::string, std::string> heard_;  // the same
  LineSocket socket_;
  std::optional<LineSession> session_;
};

}  // namespace allot
