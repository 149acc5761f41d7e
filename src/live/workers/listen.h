#pragma once
// Listening sockets of the daemon: for workers (live/workers/worker_hub.h), for its users and for
// metrics (live/daemon/control_server.h).

#include <string>

#include "core/types.h"

namespace allot {

// Listens on "unix:/path" (mode 0600; a socket that a dead daemon left there is replaced) or
// "tcp:NUMERIC-HOST:PORT" (port 0 takes a free one). The socket is non-blocking and closed on exec;
// `bound` gets the address with the actual port. While another process has the port, it tries again
// for `patience` seconds, or until the program is interrupted. UsageError for another address,
// RunError if the system refuses; it names the process that has the port.
int Listen(const std::string& address, std::string* bound, Seconds patience = 0);

// A port that stays the same may still belong to a daemon that ends.
inline constexpr Seconds kPortPatience = 10;

// True if a program listens at "tcp:HOST:PORT"; waits at most two seconds for it. The host may be a
// name: its first address counts.
bool Answers(const std::string& address);

}  // namespace allot
