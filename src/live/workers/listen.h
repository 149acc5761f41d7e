#pragma once
// Listening sockets of the daemon: for workers (live/workers/worker_hub.h), for its users and for
// metrics (live/daemon/control_server.h).

#include <string>

namespace allot {

// "unix:/path" (mode 0600; a socket that a dead daemon left there is replaced) or
// "tcp:NUMERIC-HOST:PORT", port 0: any. Non-blocking, closed on exec. `given` gets the address with
// the port that was given. UsageError for another address, RunError when the system refuses.
int Listen(const std::string& address, std::string* given);

// Whether somebody listens at such an address, within two seconds.
bool Answers(const std::string& address);

}  // namespace allot
