#pragma once
// The connections to a hub whose lines carry codes (auth/line_session.h): those that have said
// hello. Lines of the others pass unchanged, so that a connection can say hello. One thread.

#include <map>
#include <optional>
#include <string>

#include "auth/line_session.h"
#include "live/workers/line_server.h"

namespace allot {

class WorkerSessions {
 public:
  using ConnectionPtr = LineServer::ConnectionPtr;

  // Whom it says it is; lines have codes from now on, of which `token` is the key. A connection
  // begins at most once.
  void Begin(const ConnectionPtr& connection, const std::string& token,
             const LineSession::Names& names);
  void End(const ConnectionPtr& connection);

  // Null: it has not begun.
  const LineSession::Names* NamesOf(const ConnectionPtr& connection) const;
  // What is to be sent, and what was said; nullopt: not by the one who began.
  std::string Sign(const ConnectionPtr& connection, const std::string& text);
  std::optional<std::string> Open(const ConnectionPtr& connection, const std::string& line);

 private:
  struct Greeted {
    LineSession::Names names;
    LineSession session;
  };
  std::map<ConnectionPtr, Greeted> greeted_;
};

}  // namespace allot
