#pragma once
// A listening socket whose clients send lines, for one thread. Anybody can connect, so the time,
// connections and memory of clients that have not introduced themselves (strangers) are limited.

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/types.h"

namespace allot {

struct LineLimits {
  Seconds introduction = 10;          // after this time a stranger is closed
  std::size_t strangers = 1024;       // beyond, the oldest stranger is closed
  std::size_t strangers_a_peer = 64;  // likewise for one address (TCP) or user (unix)
  std::size_t longest_line = 64 * 1024;
  std::size_t unread = 1024 * 1024;  // bytes; a client that does not read is closed beyond
};

class LineServer {
 public:
  struct Connection;  // must not outlive its server
  using ConnectionPtr = std::shared_ptr<Connection>;

  // Handlers of the owner. They may call every function below.
  struct Events {
    std::function<void(const ConnectionPtr&, const std::string& line)> line;
    // The connection sent too long a line and is closed. `why` has the rule and both values.
    std::function<void(const ConnectionPtr&, const std::string& why)> refused;
    std::function<void(const ConnectionPtr&)> closed;  // once per connection
  };

  // `address` is "unix:/path" (mode 0600; a dead socket of that name is replaced) or
  // "tcp:127.0.0.1:0". RunError if it cannot listen.
  LineServer(const std::string& address, Events events, const LineLimits& limits = {});
  ~LineServer();
  LineServer(const LineServer&) = delete;
  LineServer& operator=(const LineServer&) = delete;

  const std::string& address() const;  // with the port that the system chose

  // The connection has introduced itself as `who`, which ends the limits of strangers.
  void Introduce(const ConnectionPtr& connection, const std::string& who);
  static const std::string& WhoIs(const ConnectionPtr& connection);  // "" for a stranger
  // The user at the other end of a unix socket, as the kernel knows it. RunError for TCP.
  static uid_t UserOf(const ConnectionPtr& connection);
  // Adds the end of the line. Never blocks: what the socket does not take is sent later.
  void Send(const ConnectionPtr& connection, std::string_view line);
  void Close(const ConnectionPtr& connection);  // once everything sent to it is written

  // Calls the handlers until `enough` is true, the time is over, or the user interrupts the
  // program.
  void Serve(Seconds at_most, const std::function<bool()>& enough);
  // For `enough`: true if no input is left unread.
  bool heard_all() const;
  // Thread-safe: lets Serve call `function`.
  void Post(std::function<void()> function);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
