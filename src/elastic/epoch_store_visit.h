#pragma once
// A worker's connection to the EpochStore of rank 0: sets its own keys and gets those of its peers.
// One thread. Lines without a valid code are ignored; a connection that breaks, or leads to another
// program, is made again.

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

struct StoreAddress {
  std::string host;
  std::uint16_t port = 0;
  std::string worker;  // the store's owner
};

class EpochStoreVisit {
 public:
  // `check` is called every few milliseconds while waiting, and may throw to end the wait.
  EpochStoreVisit(std::string job, std::string worker, const std::string& token, std::int64_t epoch,
                  StoreAddress address, std::function<void()> check);

  void Set(const std::string& key, const std::vector<std::uint8_t>& value);
  // Waits until a member has set the key. RunError after `patience`.
  std::vector<std::uint8_t> Get(const std::string& key, std::chrono::milliseconds patience);

 private:
  using Clock = std::chrono::steady_clock;

  bool Connected(Clock::time_point until);
  std::optional<std::string> HearLine(Clock::time_point until);
  void Say(const char* what, const std::string& key, const std::string* digits);

  const std::string job_, worker_, token_;
  const std::int64_t epoch_;
  const StoreAddress address_;
  const std::function<void()> check_;
  std::map<std::string, std::string> own_;       // values as hexadecimal digits
  std::map<std::string, std::string> received_;  // values as hexadecimal digits
  LineSocket socket_;
  std::optional<LineSession> session_;
};

}  // namespace allot
