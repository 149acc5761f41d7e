#include "core/user_name.h"

#include <pwd.h>
#include <sys/socket.h>

#include <array>

#include "core/error.h"

namespace allot {

std::string UserName(uid_t user) {
  std::array<char, 16384> buffer;
  passwd entry{};
  passwd* known = nullptr;
  ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &known);
  return known == nullptr ? fmt::format("uid {}", user) : known->pw_name;
}

uid_t PeerUser(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    throw RunError("the user of a connection is unknown: {}", SystemMessage());
  }
  return peer.uid;
}

}  // namespace allot
