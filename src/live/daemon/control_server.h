#pragma once
// The two ends of the control socket, over which users ask a running daemon: one JSON request a
// connection, through a unix socket of mode 0600 in its state folder. The server also serves
// metrics to Prometheus over HTTP. One thread for users and one for scrapers, who may be slow,
// answer with what the daemon published last. A request that changes something waits until the
// daemon has carried it out, between two polls.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "live/status/control.h"
#include "live/status/status.h"

namespace allot {

class ControlServer {
 public:
  // `metrics`: "tcp:127.0.0.1:9101", port 0: any; "": none. One of the server's threads calls
  // `wake` when a user waits for the daemon, and waits for at most `patience`.
  ControlServer(const std::string& socket_path, const std::string& metrics,
                std::function<void()> wake = {},
                std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  const std::string& metrics_address() const;

  // `status`: as WriteStatus writes it. A user who asks before the first one waits for it.
  void PublishStatus(std::string status);
  void PublishMetrics(std::string metrics);
  // A status of many jobs takes time and memory, so it is made only when a user asks. From now on,
  // a user who asks waits for the next PublishStatus; if none comes in time, the reply is that the
  // daemon is busy, and later users get that reply at once until the daemon publishes or drops
  // again.
  void DropStatus();
  bool status_wanted() const;  // a user waits for it

  // Carries out the requests since the last call. The user gets the reply of `act`, or the message
  // of its exception.
  void Serve(const std::function<ControlReply(const ControlRequest&)>& act);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Ask the daemon of this socket. RunError if no daemon listens there or it replies with an error,
// DataError if it is of another version.
DaemonStatus AskStatus(const std::string& socket_path);
ControlReply AskDaemon(const std::string& socket_path, const ControlRequest& request);

}  // namespace allot
