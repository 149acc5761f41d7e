#pragma once
// How users talk to a running daemon: one JSON request a connection, over a unix socket of mode
// 0600 in its state folder. And text metrics for Prometheus, over HTTP. Threads of their own, one
// for users and one for scrapers, who may be slow, answer from what the daemon published last. A
// command waits until the daemon has carried it out, between two polls.

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace allot {

class ControlServer {
 public:
  // `metrics`: "tcp:127.0.0.1:9101", port 0: any; "": none.
  ControlServer(const std::string& socket_path, const std::string& metrics);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  const std::string& metrics_address() const;

  void Publish(nlohmann::ordered_json status, std::string metrics);

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
