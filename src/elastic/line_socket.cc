#include "elastic/line_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/error.h"

namespace allot {
namespace {

constexpr int kConnectMilliseconds = 2000;
constexpr int kSendMilliseconds = 1000;
constexpr unsigned kLostMilliseconds = 10000;  // without any acknowledgement by the other end

bool Ready(int descriptor, short events, int milliseconds) {
  pollfd poll_one{descriptor, events, 0};
  int ready;
  do {
    ready = poll(&poll_one, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

// A connected, non-blocking socket, or -1.
int ConnectTo(int family, const sockaddr* address, socklen_t size) {
  const int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  if (connect(descriptor, address, size) == 0) return descriptor;
  int error = errno;
  if (error == EINPROGRESS && Ready(descriptor, POLLOUT, kConnectMilliseconds)) {
    socklen_t length = sizeof error;
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
  }
  if (error == 0) return descriptor;
  close(descriptor);
  return -1;
}

int ConnectUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw UsageError("address: a unix socket's path has at most {} characters, got {} ('{}')",
                     sizeof address.sun_path - 1, path.size(), path);
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  return ConnectTo(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

int ConnectTcp(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return -1;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int descriptor = ConnectTo(one->ai_family, one->ai_addr, one->ai_addrlen);
    if (descriptor < 0) continue;
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    // Detects a machine or network that is gone, which closes no connection.
    const unsigned lost = kLostMilliseconds;
    setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &lost, sizeof lost);
    return descriptor;
  }
  return -1;
}

}  // namespace

bool LineSocket::Connect(const std::string& address) {
  Close();
  const std::size_t colon = address.rfind(':');
  if (address.starts_with("unix:/")) {
    descriptor_ = ConnectUnix(address.substr(5));
  } else if (address.starts_with("tcp:") && colon > 4) {
    descriptor_ = ConnectTcp(address.substr(4, colon - 4), address.substr(colon + 1));
  } else {
    throw UsageError("address: must be 'unix:/path' or 'tcp:host:port', got '{}'", address);
  }
  return connected();
}

void LineSocket::Close() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  read_.clear();
}

std::string LineSocket::own_host() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char host[NI_MAXHOST] = "";
  if (descriptor_ < 0 || getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size) ||
      address.ss_family == AF_UNIX ||
      getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "127.0.0.1";
  }
  return host;
}

void LineSocket::Send(std::string_view line) {
  std::string rest(line);
  rest += '\n';
  while (connected() && !rest.empty()) {
    const ssize_t sent = send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      rest.erase(0, static_cast<std::size_t>(sent));
    } else if (errno != EINTR &&
               !(errno == EAGAIN && Ready(descriptor_, POLLOUT, kSendMilliseconds))) {
      Close();
    }
  }
}

void LineSocket::Wait(int wake, int milliseconds) {
  pollfd both[2] = {{wake, POLLIN, 0}, {descriptor_, POLLIN, 0}};  // poll ignores a negative one
  poll(both, 2, milliseconds);
}

std::optional<std::string> LineSocket::NextLine() {
  while (connected()) {
    const std::size_t end = read_.find('\n');
    if (end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    char chunk[4096];
    const ssize_t count = recv(descriptor_, chunk, sizeof chunk, 0);
    if (count > 0) {
      read_.append(chunk, static_cast<std::size_t>(count));
      if (read_.size() > longest_line_ && read_.find('\n') == std::string::npos) Close();
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && errno == EAGAIN) {
      return std::nullopt;
    } else {
      Close();
    }
  }
  return std::nullopt;
}

}  // namespace allot
