#include "live/daemon/control_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/user_name.h"
#include "live/status/status_json.h"
#include "live/workers/listen.h"

namespace allot {
namespace {

constexpr std::size_t kLongestRequest = 64 * 1024;
constexpr auto kAnswerPatience = std::chrono::seconds(15);
constexpr auto kRequestPatience = std::chrono::seconds(4);  // for a whole request
constexpr auto kEndPatience = std::chrono::seconds(4);      // for what the daemon has begun

constexpr const char* kBusy = "the daemon is busy: its runtime does not answer";
constexpr const char* kEnds = "the daemon ends";

void Limit(int socket, long seconds) {
  const timeval limit{seconds, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

void SendAll(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// Reads up to `end`, the end of the stream, or the limit of time or length.
std::string ReceiveUntil(int socket, std::string_view end, std::size_t longest,
                         std::chrono::seconds patience) {
  std::string text;
  std::array<char, 16384> buffer;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (text.size() < longest && text.find(end) == std::string::npos &&
         std::chrono::steady_clock::now() < until) {
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

struct ControlServer::Impl {
  struct Command {
    ControlRequest request;
    std::promise<std::string> answer{};  // as JSON
  };

  // Serves one client after the other until the server ends.
  void Run() {
    while (true) {
      std::array<pollfd, 2> polled = {pollfd{wake, POLLIN, 0}, pollfd{users, POLLIN, 0}};
      if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
      if (polled[0].revents != 0) return;
      if (polled[1].revents == 0) continue;
      const int socket = ::accept4(users, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      Limit(socket, 2);
      const std::string request = ReceiveUntil(socket, "\n", kLongestRequest, kRequestPatience);
      SendAll(socket, AnswerTo(request, socket) + "\n");
      ::close(socket);
    }
  }

  std::string AnswerTo(const std::string& text, int socket) try {
    ControlRequest request = ReadRequest(text);
    if (request.action == ControlAction::kStatus) return LatestStatus();
    const uid_t user = PeerUser(socket);
    if (request.action == ControlAction::kQuote) return QuoteFor(*request.quote, UserName(user));
    request.by = fmt::format("{} (uid {})", UserName(user), user);
    const auto command = std::make_shared<Command>(Command{std::move(request)});
    std::future<std::string> answer = command->answer.get_future();
    {
      const std::lock_guard lock(mutex);
      commands.push_back(command);
    }
    if (wake_daemon) wake_daemon();
    if (answer.wait_for(patience) == std::future_status::ready) return answer.get();
    if (Withdraw(command)) return WriteError(fmt::format("{}; nothing was changed", kBusy));
    if (answer.wait_for(kEndPatience) == std::future_status::ready) return answer.get();
    return WriteError("the daemon is still at it: see 'allot status'");
  } catch (const std::exception& error) {
    return WriteError(error.what());
  }

  std::string QuoteFor(const QuoteRequest& request, const std::string& user) {
    std::shared_ptr<QuoteSource> source;
    {
      const std::lock_guard lock(mutex);
      source = quotes.lock();
    }
    if (source == nullptr) return WriteError(kNoQuotes);
    const auto made = std::make_shared<std::promise<QuoteAnswer>>();
    std::future<QuoteAnswer> future = made->get_future();
    source->Ask(request, user, [made](QuoteAnswer answer) { made->set_value(std::move(answer)); });
    source.reset();  // the daemon ends it, while the servers that it answers are there
    if (future.wait_for(patience) != std::future_status::ready) {
      return WriteError("the quote takes too long; ask again later");
    }
    const QuoteAnswer answer = future.get();
    return answer.error.empty() ? WriteQuote(answer.quote) : WriteError(answer.error);
  }

  // False if the daemon has begun with it.
  bool Withdraw(const std::shared_ptr<Command>& command) {
    const std::lock_guard lock(mutex);
    return std::erase(commands, command) > 0;
  }

  // If the daemon hangs, only the first user who asks waits, and those behind that one.
  std::string LatestStatus() {
    std::unique_lock lock(mutex);
    status_wanted = status == nullptr && !hangs;
    if (status_wanted && wake_daemon) wake_daemon();
    const auto over_or_made = [this] { return status != nullptr || over; };
    if (status_wanted) hangs = !published.wait_for(lock, patience, over_or_made);
    status_wanted = false;
    return status != nullptr ? *status : WriteError(over ? kEnds : kBusy);
  }

  int users = -1;
  int wake = -1;
  std::function<void()> wake_daemon;
  std::string path;
  std::mutex mutex;
  std::condition_variable published;          // a status, or the end
  std::shared_ptr<const std::string> status;  // null: none yet, or dropped
  bool status_wanted = false;
  bool hangs = false;  // a user waited in vain since the daemon last published or dropped a status
  std::chrono::milliseconds patience{};
  bool over = false;
  std::vector<std::shared_ptr<Command>> commands;
  std::weak_ptr<QuoteSource> quotes;
  std::thread thread;
};

ControlServer::ControlServer(const std::string& socket_path, std::function<void()> wake,
                             std::chrono::milliseconds patience)
    : impl_(std::make_unique<Impl>()) {
  impl_->patience = patience;
  std::string given;
  impl_->wake_daemon = std::move(wake);
  impl_->path = socket_path;
  impl_->users = Listen("unix:" + socket_path, &given);
  impl_->wake = ::eventfd(0, EFD_CLOEXEC);
  impl_->thread = std::thread([this] { impl_->Run(); });
}

ControlServer::~ControlServer() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(impl_->wake, &one, sizeof(one));
  {
    const std::lock_guard lock(impl_->mutex);
    for (const auto& command : impl_->commands) command->answer.set_value(WriteError(kEnds));
    impl_->commands.clear();
    impl_->over = true;
  }
  impl_->published.notify_all();
  impl_->thread.join();
  ::close(impl_->users);
  ::close(impl_->wake);
  ::unlink(impl_->path.c_str());
}

void ControlServer::PublishStatus(std::string status) {
  auto shared = std::make_shared<const std::string>(std::move(status));
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->status.swap(shared);
    impl_->hangs = false;
  }
  impl_->published.notify_all();
}

void ControlServer::DropStatus() {
  std::shared_ptr<const std::string> old;  // freed after the lock is released
  const std::lock_guard lock(impl_->mutex);
  impl_->status.swap(old);
  impl_->hangs = false;
}

bool ControlServer::status_wanted() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->status_wanted;
}

void ControlServer::SetQuotes(std::weak_ptr<QuoteSource> quotes) {
  const std::lock_guard lock(impl_->mutex);
  impl_->quotes = std::move(quotes);
}

void ControlServer::Serve(const std::function<ControlReply(const ControlRequest&)>& act) {
  std::vector<std::shared_ptr<Impl::Command>> commands;
  {
    const std::lock_guard lock(impl_->mutex);
    commands.swap(impl_->commands);
  }
  for (const auto& command : commands) {
    try {
      command->answer.set_value(WriteReply(act(command->request)));
    } catch (const std::exception& error) {
      command->answer.set_value(WriteError(error.what()));
    }
  }
}

namespace {

// The connection, or the system's error negated.
int ConnectTo(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return socket;
  const int code = errno;
  ::close(socket);
  return -code;
}

std::string Ask(const std::vector<std::string>& sockets, const ControlRequest& request) {
  std::string tried;
  bool forbidden = false;
  for (const std::string& path : sockets) {
    const int socket = ConnectTo(path);
    if (socket < 0) {
      tried += fmt::format("{}'{}' ({})", tried.empty() ? "" : ", ", path, SystemMessage(-socket));
      forbidden = forbidden || -socket == EACCES || -socket == EPERM;
      continue;
    }
    Limit(socket, kAnswerPatience.count());
    SendAll(socket, WriteRequest(request) + "\n");
    std::string answer = ReceiveUntil(socket, "\n", std::size_t{1} << 30, kAnswerPatience);
    ::close(socket);
    if (!answer.ends_with('\n')) throw RunError("the daemon at '{}' did not answer", path);
    return answer;
  }
  throw RunError("no daemon answers at {}; {}", tried,
                 forbidden ? "ask as the daemon's user"
                           : "start one with 'allot serve', or name its folder by --state or "
                             "ALLOT_STATE");
}

}  // namespace

DaemonStatus AskStatus(const std::vector<std::string>& sockets) {
  return ReadStatus(Ask(sockets, {ControlAction::kStatus}));
}

Quote AskQuote(const std::vector<std::string>& sockets, const QuoteRequest& request) {
  ControlRequest asked{ControlAction::kQuote};
  asked.quote = request;
  return ReadQuote(Ask(sockets, asked));
}

ControlReply AskDaemon(const std::vector<std::string>& sockets, const ControlRequest& request) {
  return ReadReply(Ask(sockets, request));
}

}  // namespace allot
