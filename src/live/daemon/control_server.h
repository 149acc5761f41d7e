#pragma once
// How users talk to a running daemon: one JSON request a connection, over a unix socket of mode
// 0600 in its state folder. And text metrics for Prometheus, over HTTP. Threads of their own, one
// for users and one for scrapers, who may be slow, answer from what the daemon published last. A
// command waits until the daemon has carried it out, between two polls.

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace allot {

class ControlServer {
 public:
  // `metrics`: "tcp:127.0.0.1:9101", port 0: any; "": none. `wake` is called, from a thread of the
  // server's, when a user waits for the daemon, which is given so much patience.
  ControlServer(const std::string& socket_path, const std::string& metrics,
                std::function<void()> wake = {},
                std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  const std::string& metrics_address() const;

  // `status`: a JSON object, on one line.
  void PublishStatus(std::string status);
  void PublishMetrics(std::string metrics);
  // Of many jobs a status is only made for who asks, as it takes time and memory: from now on one
  // who does waits for the next PublishStatus, and is told that the daemon is busy where none
  // comes in time; others then at once, until the daemon says something.
  void DropStatus();
  bool status_wanted() const;  // somebody waits for it

  // Carries out what users asked for since the last call. `act` gets {"do": ..., ...} and returns
  // the answer; an Error becomes {"error": message}.
  void Serve(const std::function<nlohmann::ordered_json(const nlohmann::ordered_json&)>& act);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The other end: sends a request and returns the answer. RunError when no daemon listens there or
// it says {"error": ...}.
nlohmann::ordered_json AskDaemon(const std::string& socket_path,
                                 const nlohmann::ordered_json& request);

}  // namespace allot
