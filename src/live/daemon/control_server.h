#pragma once
// The two ends of the control socket, over which the daemon's user asks a running daemon: one JSON
// request a connection, through a unix socket of mode 0600 in its state folder. Other users have a
// socket of their own (live/daemon/user_status_server.h). A thread answers with the status that the
// daemon published last. A request that changes something waits until the daemon has carried it
// out, between two polls.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "live/status/control.h"
#include "live/status/quote_source.h"
#include "live/status/status.h"

namespace allot {

class ControlServer {
 public:
  // The server's thread calls `wake` when a user waits for the daemon, and waits for at most
  // `patience`.
  ControlServer(const std::string& socket_path, std::function<void()> wake = {},
                std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // `status`: as WriteStatus writes it. A user who asks before the first one waits for it.
  void PublishStatus(std::string status);
  // A status of many jobs takes time and memory, so it is made only when a user asks. From now on,
  // a user who asks waits for the next PublishStatus; if none comes in time, the reply is that the
  // daemon is busy, and later users get that reply at once until the daemon publishes or drops
  // again.
  void DropStatus();
  bool status_wanted() const;  // a user waits for it

  // Carries out the requests since the last call, whose `by` is set. The user gets the reply of
  // `act`, or the message of its exception. The request of a user who waited in vain for this call
  // is withdrawn; the reply says that nothing was changed.
  void Serve(const std::function<ControlReply(const ControlRequest&)>& act);

  // Whoever answers for quotes; none are made without it. Users wait for it one after the other.
  void SetQuotes(std::weak_ptr<QuoteSource> quotes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Ask the daemon of the first of these sockets at which one listens. RunError if there is none or
// it replies with an error, DataError if it is of another version.
DaemonStatus AskStatus(const std::vector<std::string>& sockets);
Quote AskQuote(const std::vector<std::string>& sockets, const QuoteRequest& request);
ControlReply AskDaemon(const std::vector<std::string>& sockets, const ControlRequest& request);

}  // namespace allot
