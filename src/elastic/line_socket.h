#pragma once
// A stream socket that carries lines: the worker's end of the worker protocol (Member) and of a
// store (EpochStoreVisit). One thread. Only Connect, Wait and a Send to a slow reader block; a
// broken connection is a state, not an exception.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace allot {

class LineSocket {
 public:
  static constexpr std::size_t kLongestLine = 64 * 1024;

  // The connection is closed when the peer sends a longer line.
  explicit LineSocket(std::size_t longest_line = kLongestLine) : longest_line_(longest_line) {}
  ~LineSocket() { Close(); }
  LineSocket(const LineSocket&) = delete;
  LineSocket& operator=(const LineSocket&) = delete;

  // `address` is "unix:/path" or "tcp:host:port", else UsageError. False if nothing listens there.
  bool Connect(const std::string& address);
  void Close();
  bool connected() const { return descriptor_ >= 0; }

  // The numeric address at which peers that reach the daemon can reach this process; "127.0.0.1"
  // for a unix socket.
  std::string own_host() const;

  void Send(std::string_view line);  // adds the line's end; waits at most a second
  // Waits until a line may be there, `wake` is readable, or the time is over.
  void Wait(int wake, int milliseconds);
  std::optional<std::string> NextLine();  // nullopt: no line yet, or the connection is gone

 private:
  const std::size_t longest_line_;
  int descriptor_ = -1;
  std::string read_;
};

}  // namespace allot
