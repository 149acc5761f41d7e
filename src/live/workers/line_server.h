#pragma once
// A listening socket whose clients speak in lines, for one thread. Anybody can connect, so what
// somebody can take before he has said who he is has bounds: time, connections, memory.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/types.h"

namespace allot {

struct LineLimits {
  Seconds introduction = 10;          // until a connection has said who it is, else it is closed
  std::size_t strangers = 1024;       // that have not; of more, the one that waits longest goes
  std::size_t strangers_a_peer = 64;  // the same, of one address (TCP) or user (unix)
  std::size_t longest_line = 64 * 1024;
  std::size_t unread = 1024 * 1024;  // bytes that a client leaves, after which it is closed
};

class LineServer {
 public:
  struct Connection;  // must not outlive its server
  using ConnectionPtr = std::shared_ptr<Connection>;

  // What its owner does. Both may call every function below.
  struct Events {
    std::function<void(const ConnectionPtr&, const std::string& line)> line;
    // A line too long; nothing more comes from it. `why`: the rule and both values.
    std::function<void(const ConnectionPtr&, const std::string& why)> refused;
    std::function<void(const ConnectionPtr&)> closed;  // once for each
  };

  // "unix:/path" (mode 0600; a dead socket of that name is replaced) or "tcp:127.0.0.1:0".
  // RunError when it cannot listen.
  LineServer(const std::string& address, Events events, const LineLimits& limits = {});
  ~LineServer();
  LineServer(const LineServer&) = delete;
  LineServer& operator=(const LineServer&) = delete;

  const std::string& address() const;  // with the port that was given

  // It has said who it is: `who`, "" takes that back.
  void Introduce(const ConnectionPtr& connection, const std::string& who);
  static const std::string& WhoIs(const ConnectionPtr& connection);
  static bool IsClosing(const ConnectionPtr& connection);
  // What the socket takes goes at once, the rest when it can. Adds the end of the line.
  void Send(const ConnectionPtr& connection, std::string_view line);
  void Close(const ConnectionPtr& connection);  // once what was said to it is written

  // Reads and answers until `enough` says so, the time is over, or the user interrupts the program.
  void Serve(Seconds at_most, const std::function<bool()>& enough);
  // For `enough`: nothing that anybody had said is unread.
  bool heard_all() const;
  // From any thread: calls `function` in Serve.
  void Post(std::function<void()> function);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
