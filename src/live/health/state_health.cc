// Checks the daemon's folder: owner, disk, journal, and the daemon that serves it.

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/error.h"
#include "core/file.h"
#include "core/file_lock.h"
#include "core/strings.h"
#include "core/user_name.h"
#include "live/health/health_check.h"
#include "live/state/journal_repair.h"

namespace allot {
namespace {

constexpr double kMegabyte = 1e6;
constexpr double kLeastMegabytes = 100;  // a journal's record is 0.3 kB
constexpr double kFewMegabytes = 1000;
constexpr unsigned long kLeastFiles = 1000;  // inodes

HealthFinding CheckFolder(const HealthPlace& place) {
  struct stat seen {};
  if (::stat(place.state.c_str(), &seen) != 0) {
    return FoundWrong(fmt::format("{}: {}", place.state.string(), SystemMessage()),
                      "start a daemon ('allot serve'), or name its folder by --state");
  }
  const std::string whose = fmt::format("{} belongs to {}, mode {:o}", place.state.string(),
                                        UserName(seen.st_uid), seen.st_mode & 07777);
  if (!S_ISDIR(seen.st_mode))
    return FoundWrong(whose + ", and is no folder", "name a folder by --state");
  if ((seen.st_mode & 077) != 0) {
    return FoundWrong(whose + "; it contains jobs' tokens, so only the daemon may read it",
                      "chmod 700 " + place.state.string());
  }
  if (seen.st_uid != ::geteuid() && ::geteuid() != 0) {
    return FoundWrong(fmt::format("{}; this user is {}", whose, UserName(::geteuid())),
                      "run allot doctor as that user");
  }
  return FoundFine(whose);
}

HealthFinding CheckSpace(const HealthPlace& place) {
  struct statvfs disk {};
  if (::statvfs(place.state.c_str(), &disk) != 0) {
    return FoundWrong(SystemMessage(), "the folder must be readable");
  }
  const double free =
      static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) / kMegabyte;
  const std::string seen = fmt::format("{:.0f} MB free", free);
  constexpr const char* kAdvice = "free some space: without it the daemon makes no changes";
  if (disk.f_files > 0 && disk.f_favail < kLeastFiles) {
    return FoundWrong(fmt::format("{}, room for {} files", seen, disk.f_favail), kAdvice);
  }
  if (free < kLeastMegabytes) return FoundWrong(seen, kAdvice);
  return free < kFewMegabytes ? FoundWarn(seen, kAdvice) : FoundFine(seen);
}

HealthFinding CheckItsJournal(const HealthPlace& place) {
  const auto path = place.state / "journal.jsonl";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (LockHolder(place.state / "lock")) {
      return FoundWarn("the running daemon writes no journal", "is it a dry run?");
    }
    if (std::filesystem::exists(place.state / "lock", error)) {
      return FoundWarn("the journal of an earlier daemon is missing",
                       "jobs keep their ages and GPUs; measurements of them are lost");
    }
    return FoundUnchecked("no daemon has served the folder yet");
  }
  const JournalState journal = CheckJournal(path);
  const std::string seen =
      fmt::format("{} records, {:.1f} MB", journal.records,
                  static_cast<double>(std::filesystem::file_size(path)) / kMegabyte);
  if (!journal.damage.empty()) {
    return FoundWrong(
        fmt::format("{}; {} damaged lines, the first is line {}: {}", seen, journal.damage.size(),
                    journal.damage[0].line, journal.damage[0].why),
        "allot journal repair --state " + place.state.string());
  }
  return FoundFine(seen);
}

HealthFinding CheckLock(const HealthPlace& place) {
  const auto path = place.state / "lock";
  const std::optional<std::string> holder = LockHolder(path);
  if (!holder) {
    return FoundWrong("no daemon serves this folder",
                      "systemctl start allot, or 'allot serve'; or name another folder by --state");
  }
  std::error_code error;
  const bool here = std::filesystem::exists("/proc/" + *holder, error);
  return FoundFine(
      fmt::format("held by process {}{}", *holder, here ? "" : ", on another machine"));
}

constexpr HealthCheck<HealthPlace> kFolderChecks[] = {{"state.folder", CheckFolder}};
constexpr HealthCheck<HealthPlace> kInFolderChecks[] = {
    {"state.space", CheckSpace}, {"state.journal", CheckItsJournal}, {"state.lock", CheckLock}};

std::vector<HealthFinding> RunStateGroup(const HealthPlace& place, const Params&) {
  std::vector<HealthFinding> findings = RunChecks(kFolderChecks, place);
  const std::vector<HealthFinding> inside = CanRead(place.state)
                                                ? RunChecks(kInFolderChecks, place)
                                                : SkipChecks(kInFolderChecks, "see state.folder");
  findings.insert(findings.end(), inside.begin(), inside.end());
  return findings;
}

ALLOT_REGISTER(HealthGroup, (HealthGroup{.id = "state",
                                         .summary = "the daemon's folder, its journal and its lock",
                                         .order = 1,
                                         .run = RunStateGroup}));

}  // namespace

bool CanRead(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::is_directory(folder, error) && ::access(folder.c_str(), R_OK | X_OK) == 0;
}

}  // namespace allot
