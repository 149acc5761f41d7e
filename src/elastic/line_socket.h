#pragma once
// A stream socket that carries lines: the worker's end of the worker protocol, for Member, and of a
// store (epoch_store_visit.h). Of one thread. Never blocks but in Connect and Wait; a broken
// connection is a state, not an exception.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace allot {

class LineSocket {
 public:
  static constexpr std::size_t kLongestLine = 64 * 1024;

  // Whoever says more without an end is left.
  explicit LineSocket(std::size_t longest_line = kLongestLine) : longest_line_(longest_line) {}
  ~LineSocket() { Close(); }
  LineSocket(const LineSocket&) = delete;
  LineSocket& operator=(const LineSocket&) = delete;

  // "unix:/path" or "tcp:host:port". False when nothing listens there now; UsageError when the
  // address is neither.
  bool Connect(const std::string& address);
  void Close();
  bool connected() const { return descriptor_ >= 0; }

  // The numeric address of this end, as those who reach the daemon can reach us: "127.0.0.1" of a
  // unix socket.
  std::string own_host() const;

  void Send(std::string_view line);  // without its end; waits at most a second for a slow reader
  // Until a line may be there, `wake` can be read, or the time is over.
  void Wait(int wake, int milliseconds);
  std::optional<std::string> NextLine();  // nullopt: none yet, or the connection is gone

 private:
  const std::size_t longest_line_;
  int descriptor_ = -1;
  std::string read_;
};

}  // namespace allot
