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
#include "live/status/status_json.h"
#include "live/workers/listen.h"

namespace allot {
namespace {

constexpr std::size_t kLongest = 64 * 1024;  // of a request
constexpr auto kAnswerPatience = std::chrono::seconds(15);
constexpr auto kRequestPatience = std::chrono::seconds(4);  // however slowly it comes

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

// Until `end` has come, the peer has said all, or the limit of time or length is reached.
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
    std::promise<std::string> answer;  // as JSON
  };

  // Until the end, one client after the other.
  void Run(int listener, void (Impl::*answer)(int)) {
    while (true) {
      std::array<pollfd, 2> polled = {pollfd{wake, POLLIN, 0}, pollfd{listener, POLLIN, 0}};
      if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
      if (polled[0].revents != 0) return;
      if (polled[1].revents == 0) continue;
      const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      Limit(socket, 2);
      (this->*answer)(socket);
      ::close(socket);
    }
  }

  void AnswerUser(int socket) {
    SendAll(socket, AnswerTo(ReceiveUntil(socket, "\n", kLongest, kRequestPatience)) + "\n");
  }

  std::string AnswerTo(const std::string& text) try {
    ControlRequest request = ReadRequest(text);
    if (request.action == ControlAction::kStatus) return LatestStatus();
    std::future<std::string> answer;
    {
      const std::lock_guard lock(mutex);
      commands.push_back({std::move(request), {}});
      answer = commands.back().answer.get_future();
    }
    if (wake_daemon) wake_daemon();
    if (answer.wait_for(patience) != std::future_status::ready) return WriteError(kBusy);
    return answer.get();
  } catch (const std::exception& error) {
    return WriteError(error.what());
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

  void AnswerScraper(int socket) {
    const std::string request = ReceiveUntil(socket, "\r\n\r\n", kLongest, kRequestPatience);
    const bool known = request.starts_with("GET /metrics ") || request.starts_with("GET / ");
    std::string text;
    if (known) {
      const std::lock_guard lock(mutex);
      text = metrics;
    }
    SendAll(socket, fmt::format("HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4\r\n"
                                "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
                                known ? "200 OK" : "404 Not Found", text.size(), text));
  }

  int users = -1;
  int scrapers = -1;
  int wake = -1;
  std::function<void()> wake_daemon;
  std::string path;
  std::string metrics_address;
  std::mutex mutex;
  std::condition_variable published;          // a status, or the end
  std::shared_ptr<const std::string> status;  // null: none yet, or dropped
  bool status_wanted = false;
  bool hangs = false;  // a user waited in vain since the daemon last published or dropped a status
  std::chrono::milliseconds patience{};
  bool over = false;
  std::string metrics;
  std::vector<Command> commands;
  std::thread user_thread, scraper_thread;
};

ControlServer::ControlServer(const std::string& socket_path, const std::string& metrics,
                             std::function<void()> wake, std::chrono::milliseconds patience)
    : impl_(std::make_unique<Impl>()) {
  impl_->patience = patience;
  std::string given;
  impl_->wake_daemon = std::move(wake);
  impl_->path = socket_path;
  impl_->users = Listen("unix:" + socket_path, &given);
  if (!metrics.empty()) impl_->scrapers = Listen(metrics, &impl_->metrics_address);
  impl_->wake = ::eventfd(0, EFD_CLOEXEC);
  impl_->user_thread = std::thread([this] { impl_->Run(impl_->users, &Impl::AnswerUser); });
  if (impl_->scrapers < 0) return;
  impl_->scraper_thread =
      std::thread([this] { impl_->Run(impl_->scrapers, &Impl::AnswerScraper); });
}

ControlServer::~ControlServer() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(impl_->wake, &one, sizeof(one));
  {
    const std::lock_guard lock(impl_->mutex);
    for (Impl::Command& command : impl_->commands) {
      command.answer.set_value(WriteError(kEnds));
    }
    impl_->commands.clear();
    impl_->over = true;
  }
  impl_->published.notify_all();
  for (std::thread* thread : {&impl_->user_thread, &impl_->scraper_thread}) {
    if (thread->joinable()) thread->join();
  }
  for (const int file : {impl_->users, impl_->scrapers, impl_->wake}) {
    if (file >= 0) ::close(file);
  }
  ::unlink(impl_->path.c_str());
}

const std::string& ControlServer::metrics_address() const { return impl_->metrics_address; }

void ControlServer::PublishStatus(std::string status) {
  auto shared = std::make_shared<const std::string>(std::move(status));
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->status.swap(shared);
    impl_->hangs = false;
  }
  impl_->published.notify_all();
}

void ControlServer::PublishMetrics(std::string metrics) {
  const std::lock_guard lock(impl_->mutex);
  impl_->metrics = std::move(metrics);
}

void ControlServer::DropStatus() {
  std::shared_ptr<const std::string> old;  // freed behind the lock
  const std::lock_guard lock(impl_->mutex);
  impl_->status.swap(old);
  impl_->hangs = false;
}

bool ControlServer::status_wanted() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->status_wanted;
}

void ControlServer::Serve(const std::function<ControlReply(const ControlRequest&)>& act) {
  std::vector<Impl::Command> commands;
  {
    const std::lock_guard lock(impl_->mutex);
    commands.swap(impl_->commands);
  }
  for (Impl::Command& command : commands) {
    try {
      command.answer.set_value(WriteReply(act(command.request)));
    } catch (const std::exception& error) {
      command.answer.set_value(WriteError(error.what()));
    }
  }
}

namespace {

std::string Ask(const std::string& socket_path, const ControlRequest& request) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    const int code = errno;
    const std::string why = SystemMessage(code);
    ::close(socket);
    const bool forbidden = code == EACCES || code == EPERM;
    throw RunError("no daemon answers at '{}' ({}); {}", socket_path, why,
                   forbidden ? "ask as the daemon's user" : "start one with 'allot serve'");
  }
  Limit(socket, kAnswerPatience.count());
  SendAll(socket, WriteRequest(request) + "\n");
  std::string answer = ReceiveUntil(socket, "\n", std::size_t{1} << 30, kAnswerPatience);
  ::close(socket);
  if (!answer.ends_with('\n')) throw RunError("the daemon at '{}' did not answer", socket_path);
  return answer;
}

}  // namespace

DaemonStatus AskStatus(const std::string& socket_path) {
  return ReadStatus(Ask(socket_path, {ControlAction::kStatus}));
}

ControlReply AskDaemon(const std::string& socket_path, const ControlRequest& request) {
  return ReadReply(Ask(socket_path, request));
}

}  // namespace allot
