#include "cli/state_folder.h"

#include <cstdlib>
#include <optional>

#include "core/error.h"
#include "live/daemon/daemon.h"
#include "live/state/standby_note.h"

namespace allot {
namespace {

// Of deploy/systemd/allot.service.
constexpr const char* kServiceState = "/var/lib/allot";
constexpr const char* kServiceRun = "/run/allot";

std::optional<std::filesystem::path> Variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<std::filesystem::path> NamedFolder(const std::string& given) {
  if (!given.empty()) return given;
  return Variable("ALLOT_STATE");
}

std::optional<std::filesystem::path> OwnFolder() {
  if (const auto state = Variable("XDG_STATE_HOME")) return *state / "allot";
  if (const auto home = Variable("HOME")) return *home / ".local/state/allot";
  return std::nullopt;
}

std::vector<std::filesystem::path> Folders(const std::string& given) {
  if (const auto named = NamedFolder(given)) return {*named};
  std::vector<std::filesystem::path> folders;
  if (const auto own = OwnFolder()) folders.push_back(*own);
  folders.emplace_back(kServiceState);
  return folders;
}

}  // namespace

std::filesystem::path StateFolder(const std::string& given) {
  if (const auto named = NamedFolder(given)) return *named;
  if (const auto own = OwnFolder()) return *own;
  throw UsageError("no HOME to keep state in: give --state FOLDER");
}

std::filesystem::path FindStateFolder(const std::string& given) {
  const std::vector<std::filesystem::path> folders = Folders(given);
  for (const std::filesystem::path& folder : folders) {
    std::error_code error;
    if (std::filesystem::exists(folder / "lock", error)) return folder;
  }
  return folders.front();
}

std::vector<std::string> ControlSockets(const std::string& given) {
  std::vector<std::string> sockets;
  for (const std::filesystem::path& folder : Folders(given)) {
    if (const auto standby = StandbyIn(folder)) {
      throw RunError("the daemon of '{}' {}; it has no status yet", folder.string(),
                     standby->Text());
    }
    sockets.push_back(Daemon::SocketIn(folder).string());
  }
  return sockets;
}

std::vector<std::string> StatusSockets(const std::string& given) {
  std::vector<std::string> sockets = ControlSockets(given);
  const std::filesystem::path users = NamedFolder(given).value_or(kServiceRun);
  sockets.push_back(Daemon::UserSocketIn(users).string());
  return sockets;
}

}  // namespace allot
