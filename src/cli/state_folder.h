#pragma once
// Where daemons keep their state, and where the commands that ask one find it: the folder of
// --state, else that of the variable ALLOT_STATE, else the user's own, else the service's.

#include <filesystem>
#include <string>
#include <vector>

namespace allot {

// Help of the option --state of these commands.
inline constexpr const char* kStateHelp =
    "the daemon's folder [ALLOT_STATE, ~/.local/state/allot or /var/lib/allot]";

// For a daemon: of --state, ALLOT_STATE, $XDG_STATE_HOME/allot, ~/.local/state/allot the first that
// is known. UsageError without any.
std::filesystem::path StateFolder(const std::string& given);

// For commands that read a daemon's files: the first that a daemon has served, else the first.
std::filesystem::path FindStateFolder(const std::string& given);

// Control sockets at which a daemon may answer, in the order in which to try them. RunError if the
// daemon of such a folder is a standby, which does not answer yet.
std::vector<std::string> ControlSockets(const std::string& given);
// The same, then sockets for all users: enough for the status.
std::vector<std::string> StatusSockets(const std::string& given);

}  // namespace allot
