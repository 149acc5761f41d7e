#pragma once
// Serves the daemon's metrics to Prometheus over HTTP/1.1, at / and /metrics. It has a thread of
// its own, and answers all connections at a time: of clients that hold connections without asking,
// the oldest is closed for a new one (live/workers/line_server.h), so that none of them shuts
// Prometheus out.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "live/workers/line_server.h"

namespace allot {

class MetricsServer {
 public:
  // "tcp:127.0.0.1:9101"; port 0: any. RunError if it cannot listen there.
  explicit MetricsServer(const std::string& address);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  const std::string& address() const { return server_.address(); }  // with its port
  void Publish(std::string metrics);  // what is served from now on; thread-safe

 private:
  void Read(const LineServer::ConnectionPtr& client, std::string line);
  void Answer(const LineServer::ConnectionPtr& client, const std::string& request_line);

  LineServer server_;
  std::map<LineServer::ConnectionPtr, std::string> request_lines_;  // whose headers are being read
  std::mutex mutex_;
  std::shared_ptr<const std::string> metrics_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace allot
