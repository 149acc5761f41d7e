#include "elastic/epoch_store.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "auth/line_session.h"
#include "auth/secret.h"
#include "core/error.h"

namespace allot {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 1024;
constexpr std::size_t kEpochsKept = 2;
constexpr std::chrono::milliseconds kNoDescriptors{100};  // before the next attempt

// Listens on `host` alone, or -1.
int ListenOn(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    errno = EINVAL;
    return -1;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, ::freeaddrinfo);
  const int listener =
      ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
  if (listener < 0) return -1;
  const int on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(listener, found->ai_addr, found->ai_addrlen) == 0 &&
      ::listen(listener, kBacklog) == 0) {
    return listener;
  }
  const int why = errno;
  ::close(listener);
  errno = why;
  return -1;
}

std::uint16_t PortOf(int listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

struct EpochStore::Impl {
  struct Key {
    std::int64_t epoch = 0;
    std::string name;
    friend bool operator==(const Key&, const Key&) = default;
  };

  struct Connection {
    explicit Connection(int from) : socket(from), since(Clock::now()) {}
    ~Connection() { ::close(socket); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    int socket;
    Clock::time_point since;
    std::optional<LineSession> session{};  // once it has said hello
    bool known = false;                    // has proved that it knows the token
    bool closing = false;
    std::string in{};
    std::string out{};
    std::vector<Key> asked{};  // what it waits for
  };

  Impl(Owner of, const StoreLimits& its_limits)
      : owner(std::move(of)),
        session_token(SessionToken(owner.token, owner.worker)),
        limits(its_limits) {}

  // ---- what is kept ----

  // Members of an earlier epoch learn of the later one from the daemon.
  void Set(const Key& key, const std::string& value) {
    epochs[key.epoch][key.name] = value;
    while (epochs.size() > kEpochsKept) epochs.erase(epochs.begin());
    for (Connection& connection : connections) {
      if (std::erase(connection.asked, key) > 0) Answer(connection, key, value);
    }
  }

  void Get(Connection& connection, const Key& key) {
    const auto epoch = epochs.find(key.epoch);
    if (epoch != epochs.end()) {
      const auto found = epoch->second.find(key.name);
      if (found != epoch->second.end()) return Answer(connection, key, found->second);
    }
    connection.asked.push_back(key);
  }

  static void Answer(Connection& connection, const Key& key, const std::string& value) {
    Say(connection, {{"say", "value"}, {"epoch", key.epoch}, {"key", key.name}, {"value", value}});
  }

  // ---- the protocol ----

  static void Say(Connection& connection, const Json& message) {
    connection.out += connection.session->Sign(message.dump()) + "\n";
  }

  // Throws for a message that the protocol does not have.
  void Hear(Connection& connection, const std::string& line) {
    if (!connection.session) {
      const Json hello = Json::parse(line);
      const LineSession::Names names{.job = hello.at("job"),
                                     .worker = hello.at("worker"),
                                     .worker_nonce = hello.at("nonce"),
                                     .daemon_nonce = NewToken()};
      if (hello.at("say") != "hello" || names.job != owner.job ||
          !LooksLikeToken(names.worker_nonce)) {
        throw DataError("a connection begins with 'hello'");
      }
      connection.session.emplace(LineSession::Side::kDaemon, session_token, names);
      return Say(connection, {{"say", "challenge"}, {"nonce", names.daemon_nonce}});
    }
    const std::optional<std::string> text = connection.session->Open(line);
    if (!text) throw DataError("a line must have a valid code");
    connection.known = true;
    const Json message = Json::parse(*text);
    const Key key{message.at("epoch"), message.at("key")};
    if (message.at("say") == "set") return Set(key, message.at("value"));
    if (message.at("say") == "get") return Get(connection, key);
    throw DataError("a store accepts 'set' and 'get'");
  }

  void HearAll(Connection& connection) {
    std::size_t end;
    while (!connection.closing && (end = connection.in.find('\n')) != std::string::npos) {
      const std::string line = connection.in.substr(0, end);
      connection.in.erase(0, end + 1);
      try {
        Hear(connection, line);
      } catch (const std::exception&) {
        connection.closing = true;  // no answer: the client may be anybody
      }
    }
    const std::size_t longest = connection.known ? limits.line : limits.strangers_line;
    const bool no_line = !connection.in.empty() && connection.in.front() != '{';
    connection.closing = connection.closing || no_line || connection.in.size() > longest;
  }

  // ---- sockets ----

  static bool TryAgain() { return errno == EAGAIN || errno == EINTR; }

  void Read(Connection& connection) {
    std::array<char, 16 * 1024> buffer;
    const ssize_t got = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
    if (got > 0) {
      connection.in.append(buffer.data(), static_cast<std::size_t>(got));
      HearAll(connection);
    } else if (got == 0 || !TryAgain()) {
      connection.closing = true;
    }
  }

  static void Write(Connection& connection) {
    while (!connection.closing && !connection.out.empty()) {
      const ssize_t sent =
          ::send(connection.socket, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        connection.out.erase(0, static_cast<std::size_t>(sent));
      } else if (!TryAgain()) {
        connection.closing = true;
      } else {
        return;
      }
    }
  }

  std::list<Connection>::iterator LongestStranger() {
    return std::find_if(connections.begin(), connections.end(),
                        [](const Connection& one) { return !one.known; });
  }

  void Accept() {
    for (;;) {
      const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket < 0) {
        if (errno == ECONNABORTED || errno == EINTR) continue;
        if (errno == EAGAIN) return;
        const auto stranger = LongestStranger();  // descriptors ran out
        if (stranger != connections.end()) connections.erase(stranger);
        accept_again = Clock::now() + kNoDescriptors;
        return;
      }
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      connections.emplace_back(socket);
      const auto strangers = std::count_if(connections.begin(), connections.end(),
                                           [](const Connection& one) { return !one.known; });
      if (static_cast<std::size_t>(strangers) > limits.strangers) {
        connections.erase(LongestStranger());
      }
    }
  }

  // Milliseconds until the next deadline without any input; -1 if there is none.
  int Patience() const {
    const Clock::time_point now = Clock::now();
    Clock::time_point due = accept_again > now ? accept_again : Clock::time_point::max();
    for (const Connection& one : connections) {
      if (!one.known) due = std::min(due, one.since + limits.introduction);
    }
    if (due == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  }

  void DropDone() {
    const Clock::time_point now = Clock::now();
    std::erase_if(connections, [&](const Connection& one) {
      return one.closing || (!one.known && now >= one.since + limits.introduction);
    });
  }

  void Serve() {
    std::vector<pollfd> polled;
    for (;;) {
      const bool accepts = Clock::now() >= accept_again;
      polled.assign({{wake, POLLIN, 0}, {accepts ? listener : -1, POLLIN, 0}});
      for (const Connection& one : connections) {
        const int events = one.out.empty() ? POLLIN : POLLIN | POLLOUT;
        polled.push_back({one.socket, static_cast<short>(events), 0});
      }
      ::poll(polled.data(), polled.size(), Patience());
      if (polled[0].revents != 0) return;
      std::size_t at = 2;
      for (Connection& one : connections) {
        if ((polled[at++].revents & ~POLLOUT) != 0) Read(one);
      }
      for (Connection& one : connections) Write(one);
      DropDone();
      if (polled[1].revents != 0) Accept();
    }
  }

  const Owner owner;
  const std::string session_token;
  const StoreLimits limits;
  int listener = -1;
  int wake = -1;
  std::list<Connection> connections;  // used by the thread alone; the oldest first
  std::map<std::int64_t, std::map<std::string, std::string>> epochs;
  Clock::time_point accept_again;
  std::thread thread;
};

EpochStore::EpochStore(Owner owner, const std::string& host, std::uint16_t port,
                       const StoreLimits& limits)
    : impl_(std::make_unique<Impl>(std::move(owner), limits)) {
  impl_->listener = ListenOn(host, port);
  if (impl_->listener < 0) {
    throw RunError("a worker must listen on its own address for its peers, but cannot on {}: {}",
                   host, SystemMessage());
  }
  impl_->wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  impl_->thread = std::thread([this] { impl_->Serve(); });
}

EpochStore::~EpochStore() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(impl_->wake, &one, sizeof(one));
  impl_->thread.join();
  // Clients that have just connected are accepted and closed like the others. Closing the listener
  // alone would reset them, and libtorch's store, whose clients they may be, ends the process then.
  impl_->Accept();
  ::close(impl_->listener);
  ::close(impl_->wake);
}

std::uint16_t EpochStore::port() const { return PortOf(impl_->listener); }

std::string EpochStore::SessionToken(const std::string& token, const std::string& worker) {
  return KeyedCode(token, fmt::format("allot store of worker {}", worker));
}

}  // namespace allot
