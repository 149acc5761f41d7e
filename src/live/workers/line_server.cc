#include "live/workers/line_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <asio.hpp>
#include <chrono>
#include <list>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/user_name.h"
#include "live/workers/listen.h"

namespace allot {
namespace {

using LineStream = asio::generic::stream_protocol;  // unix or TCP
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostConnections = 16 * 1024;
constexpr rlim_t kSpareDescriptors = 128;  // for the rest of the program
constexpr std::chrono::milliseconds kInterruptCheck{100};
constexpr std::chrono::milliseconds kNoDescriptors{100};  // before the next attempt
constexpr int kMostAtOnce = 1000;  // lines and connections before Serve calls `enough`

SteadyClock::duration AsDuration(Seconds seconds) {
  return std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

// The number of connections that may be open at once. Raises the usual limit of 1024 files as far
// as the system allows.
std::size_t MostConnections() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return kMostConnections;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);
  (void)::getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur == RLIM_INFINITY) return kMostConnections;
  const rlim_t left = files.rlim_cur > kSpareDescriptors ? files.rlim_cur - kSpareDescriptors : 1;
  return std::min(kMostConnections, static_cast<std::size_t>(left));
}

// Detects a machine or network that is gone, which closes no connection. Fails for a unix socket,
// which does not need it.
void NoticeLoss(int socket) {
  const int on = 1;
  const unsigned milliseconds = 10'000;  // without any acknowledgement by the other end
  (void)::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof(milliseconds));
}

// The client as the system knows it: "uid 1000", "10.0.0.7".
std::string PeerOf(LineStream::socket& socket) {
  asio::error_code error;
  const auto end = socket.remote_endpoint(error);
  if (!error && end.protocol().family() == AF_INET) {
    asio::ip::tcp::endpoint address;
    std::copy_n(reinterpret_cast<const unsigned char*>(end.data()), end.size(),
                reinterpret_cast<unsigned char*>(address.data()));
    return address.address().to_string();
  }
  return fmt::format("uid {}", PeerUser(socket.native_handle()));
}

}  // namespace

struct LineServer::Connection : std::enable_shared_from_this<LineServer::Connection> {
  explicit Connection(LineStream::socket from) : socket(std::move(from)), peer(PeerOf(socket)) {}
  LineStream::socket socket;
  std::string peer;
  std::string who{};  // "" for a stranger
  SteadyClock::time_point until{};
  std::string in{};
  std::string out{};
  bool writing = false;  // waits until the socket takes more of `out`
  bool closing = false;  // nothing more is read; closed once `out` is written
};

struct LineServer::Impl {
  Impl(Events its_events, const LineLimits& its_limits)
      : events(std::move(its_events)), limits(its_limits) {}
  ~Impl() {
    if (!path.empty()) ::unlink(path.c_str());
  }

  void Accept() {
    acceptor.async_accept([this](const asio::error_code& error, LineStream::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {  // descriptors ran out: close a stranger and try again after a pause
        if (!strangers.empty()) Drop(*strangers.front());
        again.expires_after(kNoDescriptors);
        again.async_wait([this](const asio::error_code& failed) {
          if (!failed) Accept();
        });
        return;
      }
      socket.non_blocking(true);
      NoticeLoss(socket.native_handle());
      Welcome(std::make_shared<Connection>(std::move(socket)));
      Accept();
    });
  }

  void Welcome(const ConnectionPtr& connection) {
    const auto same = [&](const ConnectionPtr& other) { return other->peer == connection->peer; };
    const auto its = std::count_if(strangers.begin(), strangers.end(), same);
    if (static_cast<std::size_t>(its) >= limits.strangers_a_peer) {
      Drop(**std::find_if(strangers.begin(), strangers.end(), same));
    } else if (strangers.size() >= limits.strangers || connections.size() >= most_connections) {
      if (strangers.empty()) return;  // no introduced client is closed for a new one
      Drop(*strangers.front());
    }
    connection->until = SteadyClock::now() + AsDuration(limits.introduction);
    connections.insert(connection);
    strangers.push_back(connection);
    if (strangers.size() == 1) WaitForIntroductions();
    Read(connection);
  }

  void WaitForIntroductions() {
    if (strangers.empty()) return;
    patience.expires_at(strangers.front()->until);
    patience.async_wait([this](const asio::error_code& error) {
      if (error) return;
      while (!strangers.empty() && strangers.front()->until <= SteadyClock::now()) {
        Drop(*strangers.front());
      }
      WaitForIntroductions();
    });
  }

  void Read(const ConnectionPtr& connection) {
    asio::async_read_until(
        connection->socket, asio::dynamic_buffer(connection->in, limits.longest_line), '\n',
        [this, connection](const asio::error_code& error, std::size_t length) {
          if (connection->closing) return;
          if (error == asio::error::not_found) {
            events.refused(connection, fmt::format("a line has at most {} bytes, got more than {}",
                                                   limits.longest_line, limits.longest_line));
            Close(connection);
          } else if (error) {
            connection->out.clear();
            Close(connection);
          } else {
            const std::string line = connection->in.substr(0, length - 1);
            connection->in.erase(0, length);
            events.line(connection, line);
          }
          if (!connection->closing) Read(connection);
        });
  }

  void Write(const ConnectionPtr& connection) {
    if (connection->writing) return;
    while (!connection->out.empty()) {
      asio::error_code error;
      const std::size_t sent = connection->socket.write_some(asio::buffer(connection->out), error);
      connection->out.erase(0, sent);
      if (error == asio::error::would_block) {
        connection->writing = true;
        connection->socket.async_wait(LineStream::socket::wait_write,
                                      [this, connection](const asio::error_code& failed) {
                                        connection->writing = false;
                                        if (!failed) Write(connection);
                                      });
        return;
      }
      if (error) {
        connection->out.clear();
        connection->closing = true;
      }
    }
    if (connection->closing) Drop(*connection);
  }

  void Close(const ConnectionPtr& connection) {
    connection->closing = true;
    Write(connection);
  }

  void Drop(Connection& dropped) {
    const ConnectionPtr connection = dropped.shared_from_this();  // outlives its list entries
    connection->closing = true;
    asio::error_code ignored;
    connection->socket.close(ignored);
    strangers.remove(connection);
    if (connections.erase(connection) > 0) events.closed(connection);
  }

  Events events;
  const LineLimits limits;
  const std::size_t most_connections = MostConnections();
  asio::io_context io{1};
  asio::basic_socket_acceptor<LineStream> acceptor{io};
  asio::steady_timer patience{io};
  asio::steady_timer again{io};
  std::string address;
  std::string path;  // "" unless it is a unix socket
  bool heard_all = false;
  std::set<ConnectionPtr> connections;
  std::list<ConnectionPtr> strangers;  // the oldest first
};

LineServer::LineServer(const std::string& address, Events events, const LineLimits& limits)
    : impl_(std::make_unique<Impl>(std::move(events), limits)) {
  const bool unix = address.starts_with("unix:");
  const int listener = Listen(address, &impl_->address, kPortPatience);
  impl_->acceptor.assign(LineStream(unix ? AF_UNIX : AF_INET, 0), listener);
  if (unix) impl_->path = address.substr(5);
  impl_->Accept();
}

LineServer::~LineServer() = default;

const std::string& LineServer::address() const { return impl_->address; }

void LineServer::Introduce(const ConnectionPtr& connection, const std::string& who) {
  connection->who = who;
  impl_->strangers.remove(connection);
}

const std::string& LineServer::WhoIs(const ConnectionPtr& connection) { return connection->who; }

uid_t LineServer::UserOf(const ConnectionPtr& connection) {
  return PeerUser(connection->socket.native_handle());
}

void LineServer::Send(const ConnectionPtr& connection, std::string_view line) {
  connection->out += line;
  connection->out += '\n';
  if (connection->out.size() > impl_->limits.unread) {
    connection->out.clear();
    connection->closing = true;
    impl_->Drop(*connection);
    return;
  }
  impl_->Write(connection);
}

void LineServer::Close(const ConnectionPtr& connection) { impl_->Close(connection); }

void LineServer::Serve(Seconds at_most, const std::function<bool()>& enough) {
  const auto until = SteadyClock::now() + AsDuration(at_most);
  asio::io_context& io = impl_->io;
  do {
    io.run_one_until(std::min(until, SteadyClock::now() + kInterruptCheck));
    // Handle everything that has arrived before `enough` is called.
    int more = 0;
    while (more < kMostAtOnce && io.poll_one() > 0) ++more;
    impl_->heard_all = more < kMostAtOnce;
  } while (!enough() && !Interrupted() && SteadyClock::now() < until);
}

bool LineServer::heard_all() const { return impl_->heard_all; }

void LineServer::Post(std::function<void()> function) {
  asio::post(impl_->io, std::move(function));
}

}  // namespace allot
