#include "live/daemon/user_status_server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/user_name.h"
#include "live/status/status_json.h"
#include "live/status/user_view.h"

namespace allot {
namespace {

constexpr Seconds kForAnAnswer = 60;  // quotes wait for their turn (LiveQuotes)
constexpr std::size_t kMostUsers = 64;
constexpr std::size_t kMostOfAUser = 8;
constexpr std::size_t kLongestView = 64 << 20;
constexpr std::size_t kLongestQuestion = 1024;

bool IsTrusted(uid_t user) { return user == 0 || user == ::geteuid(); }

}  // namespace

UserStatusServer::UserStatusServer(const std::filesystem::path& socket)
    : server_("unix:" + socket.string(),
              {.line = [this](const auto& client, const std::string& line) { Ask(client, line); },
               .refused = [](const auto&, const std::string&) {},
               .closed = [this](const auto& client) { waiting_.erase(client); }},
              {.introduction = kForAnAnswer,
               .strangers = kMostUsers,
               .strangers_a_peer = kMostOfAUser,
               .longest_line = kLongestQuestion,
               .unread = kLongestView}) {
  if (::chmod(socket.c_str(), 0666) != 0) {
    throw RunError("cannot let users connect to '{}': {}", socket.string(), SystemMessage());
  }
  thread_ = std::thread([this] {
    while (!over_) server_.Serve(1, [this] { return over_.load(); });
  });
}

UserStatusServer::~UserStatusServer() {
  over_ = true;
  server_.Post([] {});
  thread_.join();
}

void UserStatusServer::Publish(std::shared_ptr<const DaemonStatus> status) {
  server_.Post([this, status = std::move(status)] { Answer(*status); });
}

void UserStatusServer::SetQuotes(std::weak_ptr<QuoteSource> quotes) {
  server_.Post([this, quotes = std::move(quotes)] { quotes_ = quotes; });
}

void UserStatusServer::Ask(const LineServer::ConnectionPtr& client, const std::string& line) {
  try {
    const ControlRequest request = ReadRequest(line);
    if (request.action == ControlAction::kQuote) {
      AskForQuote(client, *request.quote);
    } else if (request.action == ControlAction::kStatus) {
      waiting_.insert(client);
      wanted_ = true;
    } else {
      End(client, WriteError("only the daemon's user may ask for this; other users may ask for the "
                             "status and for quotes"));
    }
  } catch (const std::exception& error) {
    End(client, WriteError(error.what()));
  }
}

void UserStatusServer::End(const LineServer::ConnectionPtr& client, const std::string& text) {
  server_.Send(client, text);
  server_.Close(client);
}

void UserStatusServer::AskForQuote(const LineServer::ConnectionPtr& client,
                                   const QuoteRequest& request) {
  const std::shared_ptr<QuoteSource> quotes = quotes_.lock();
  if (quotes == nullptr) {
    End(client, WriteError(kNoQuotes));
    return;
  }
  const uid_t user = LineServer::UserOf(client);
  const std::string name = UserName(user);
  const bool trusted = IsTrusted(user);
  quotes->Ask(request, name, [this, client, name, trusted](const QuoteAnswer& answer) {
    std::string text = answer.error.empty()
                           ? WriteQuote(trusted ? answer.quote : ViewFor(name, answer.quote))
                           : WriteError(answer.error);
    server_.Post([this, client, text = std::move(text)] { End(client, text); });
  });
}

void UserStatusServer::Answer(const DaemonStatus& status) {
  wanted_ = false;
  std::map<uid_t, std::string> views;
  for (const LineServer::ConnectionPtr& client : std::exchange(waiting_, {})) {
    const uid_t user = LineServer::UserOf(client);
    const auto [view, first] = views.try_emplace(user);
    if (first) {
      view->second = WriteStatus(IsTrusted(user) ? status : ViewFor(UserName(user), status));
    }
    End(client, view->second);
  }
}

}  // namespace allot
