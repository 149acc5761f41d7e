#include "live/workers/worker_sessions.h"

namespace allot {

void WorkerSessions::Begin(const ConnectionPtr& connection, const std::string& token,
                           const LineSession::Names& names) {
  greeted_.emplace(connection,
                   Greeted{names, LineSession(LineSession::Side::kDaemon, token, names)});
}

void WorkerSessions::End(const ConnectionPtr& connection) { greeted_.erase(connection); }

const LineSession::Names* WorkerSessions::NamesOf(const ConnectionPtr& connection) const {
  const auto found = greeted_.find(connection);
  return found == greeted_.end() ? nullptr : &found->second.names;
}

std::string WorkerSessions::Sign(const ConnectionPtr& connection, const std::string& text) {
  const auto found = greeted_.find(connection);
  return found == greeted_.end() ? text : found->second.session.Sign(text);
}

std::optional<std::string> WorkerSessions::Open(const ConnectionPtr& connection,
                                                const std::string& line) {
  const auto found = greeted_.find(connection);
  return found == greeted_.end() ? line : found->second.session.Open(line);
}

}  // namespace allot
