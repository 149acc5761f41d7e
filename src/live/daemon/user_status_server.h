#pragma once
// The socket for users: everybody on the machine may connect, ask for the status or a quote as on
// the control socket, and gets their own view of it (live/status/user_view.h); root and the
// daemon's user get the whole. Nothing can be changed here. It has a thread of its own; clients
// that only hold connections are closed for new ones (live/workers/line_server.h).

#include <atomic>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "live/status/quote_source.h"
#include "live/status/status.h"
#include "live/workers/line_server.h"

namespace allot {

class UserStatusServer {
 public:
  // RunError if it cannot listen there.
  explicit UserStatusServer(const std::filesystem::path& socket);
  ~UserStatusServer();
  UserStatusServer(const UserStatusServer&) = delete;
  UserStatusServer& operator=(const UserStatusServer&) = delete;

  // True while a user waits for the next Publish. Users cannot make the daemon publish more often.
  bool wanted() const { return wanted_; }
  void Publish(std::shared_ptr<const DaemonStatus> status);
  // Whoever answers for quotes; none are made without it.
  void SetQuotes(std::weak_ptr<QuoteSource> quotes);

 private:
  void Ask(const LineServer::ConnectionPtr& client, const std::string& line);
  void Answer(const DaemonStatus& status);
  void AskForQuote(const LineServer::ConnectionPtr& client, const QuoteRequest& request);
  void End(const LineServer::ConnectionPtr& client, const std::string& text);

  LineServer server_;
  std::set<LineServer::ConnectionPtr> waiting_;  // of the thread
  std::weak_ptr<QuoteSource> quotes_;            // likewise
  std::atomic<bool> wanted_ = false;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace allot
