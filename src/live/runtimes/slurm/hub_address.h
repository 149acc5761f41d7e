#pragma once
// Where workers on nodes find the daemon of a Slurm cluster, and the one that takes over from it.
// For the Slurm runtime.

#include <string>
#include <string_view>
#include <vector>

#include "live/workers/listen.h"

namespace allot {

// "host" or "host:port|host:port|..." as {"tcp:NUMBER:PORT", ...}, port 0 where none is given.
// UsageError for a name that is no machine's, and if one of several has no port: workers get all of
// them before daemons listen there.
std::vector<std::string> HubAddresses(std::string_view text);

// The first that this machine can listen at now, or within `patience` seconds for each. RunError
// naming why it can listen at none of them.
std::string FirstFreeAddress(const std::vector<std::string>& addresses,
                             Seconds patience = kPortPatience);

bool OfOneHost(const std::string& address, const std::string& other);  // "tcp:NUMBER:PORT"

// ALLOT_DAEMON of a worker: that at which we listen first, then the others.
std::string DaemonVariable(const std::string& own, const std::vector<std::string>& addresses);

}  // namespace allot
