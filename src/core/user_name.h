#pragma once
// Users of this machine as people know them, for messages, logs and the journal.

#include <sys/types.h>

#include <string>

namespace allot {

// The user's name, or "uid 1001" where the system knows none. Thread-safe; may ask a name server.
std::string UserName(uid_t user);

// The user at the other end of a unix socket, as the kernel knows it. RunError for another socket.
uid_t PeerUser(int socket);

}  // namespace allot
