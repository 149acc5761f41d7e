#include "live/workers/listen.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/strings.h"
#include "live/workers/port_holder.h"

namespace allot {
namespace {

constexpr std::chrono::milliseconds kPortRetry{500};

int ListenUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    throw RunError("the path of a socket has at most {} characters, '{}' has {}",
                   sizeof(address.sun_path) - 1, path, path.size());
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ::unlink(path.c_str());  // the state folder is locked, so its daemon is gone
  const mode_t before = ::umask(0177);
  const int bound = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  ::umask(before);
  if (socket < 0 || bound != 0 || ::listen(socket, 128) != 0) {
    throw RunError("cannot listen on '{}': {}", path, SystemMessage());
  }
  return socket;
}

// A socket that listens at the address, which gets the actual port; or the system's error, negated.
int TryTcp(sockaddr_in* address) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return -errno;
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  socklen_t size = sizeof(*address);
  auto* const general = reinterpret_cast<sockaddr*>(address);
  if (::bind(socket, general, size) == 0 && ::listen(socket, 128) == 0 &&
      ::getsockname(socket, general, &size) == 0) {
    return socket;
  }
  const int code = errno;
  ::close(socket);
  return -code;
}

// `where` is "host:port" with a numeric host.
int ListenTcp(const std::string& where, std::string* given, Seconds patience) {
  const std::size_t colon = where.rfind(':');
  const long long port =
      colon == std::string::npos ? -1 : ParseInteger(where.substr(colon + 1)).value_or(-1);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  const std::string host = where.substr(0, colon);
  if (port < 0 || port > 65535 || ::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    throw UsageError("an address is tcp:NUMERIC-HOST:PORT, got 'tcp:{}'", where);
  }
  const auto number = static_cast<std::uint16_t>(port);
  address.sin_port = htons(number);
  int socket = TryTcp(&address);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience);
  if (socket == -EADDRINUSE && patience > 0) {
    spdlog::warn("port {} belongs to {}: trying for {:g} s", port, PortHolder(number), patience);
  }
  while (socket == -EADDRINUSE && std::chrono::steady_clock::now() < until && !Interrupted()) {
    std::this_thread::sleep_for(kPortRetry);
    socket = TryTcp(&address);
  }
  if (socket < 0) {
    const std::string holder =
        socket == -EADDRINUSE ? fmt::format(" by {}", PortHolder(number)) : "";
    throw RunError("cannot listen on 'tcp:{}': {}{}", where, SystemMessage(-socket), holder);
  }
  *given = fmt::format("tcp:{}:{}", host, ntohs(address.sin_port));
  return socket;
}

}  // namespace

int Listen(const std::string& address, std::string* given, Seconds patience) {
  *given = address;
  if (address.starts_with("unix:")) return ListenUnix(address.substr(5));
  if (address.starts_with("tcp:")) return ListenTcp(address.substr(4), given, patience);
  throw UsageError("an address begins with 'unix:' or 'tcp:', got '{}'", address);
}

bool Answers(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (!address.starts_with("tcp:") || colon < 4) return false;
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string host = address.substr(4, colon - 4);
  if (::getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found) != 0) return false;
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{2, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  const bool answers = ::connect(socket, found->ai_addr, found->ai_addrlen) == 0;
  ::close(socket);
  ::freeaddrinfo(found);
  return answers;
}

}  // namespace allot
