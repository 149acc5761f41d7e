#include "live/workers/port_holder.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/strings.h"
#include "core/user_name.h"

namespace allot {
namespace {

struct ListeningSocket {
  uid_t user = 0;
  std::string inode;
};

std::optional<ListeningSocket> FindListening(std::uint16_t port) {
  constexpr const char* kListens = "0A";
  std::ifstream table("/proc/net/tcp");
  const std::string wanted = fmt::format(":{:04X}", port);
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string slot, local, remote, state, queues, timer, retransmits, timeout;
    ListeningSocket found;
    words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> found.user >>
        timeout >> found.inode;
    if (words && state == kListens && local.ends_with(wanted)) return found;
  }
  return std::nullopt;
}

bool HasSocket(const std::filesystem::path& process, const std::string& inode) {
  const std::string wanted = fmt::format("socket:[{}]", inode);
  std::error_code error;
  for (std::filesystem::directory_iterator at(process / "fd", error), end; at != end && !error;
       at.increment(error)) {
    std::error_code unreadable;
    if (std::filesystem::read_symlink(at->path(), unreadable) == wanted) return true;
  }
  return false;
}

// "4711 (python3)"
std::optional<std::string> FindProcess(const std::string& inode) {
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; at != end && !error;
       at.increment(error)) {
    const std::string pid = at->path().filename();
    if (!ParseInteger(pid) || !HasSocket(at->path(), inode)) continue;
    std::string name;
    std::getline(std::ifstream(at->path() / "comm"), name);
    return fmt::format("{} ({})", pid, Printable(name));
  }
  return std::nullopt;
}

}  // namespace

std::string PortHolder(std::uint16_t port) {
  const auto socket = FindListening(port);
  if (!socket) return "an unknown process";
  const auto process = FindProcess(socket->inode);
  return fmt::format("{} of user {}", process ? "process " + *process : "a process",
                     UserName(socket->user));
}

}  // namespace allot
