#include "live/runtimes/slurm/cluster_claim.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "auth/secret.h"
#include "core/file_lock.h"
#include "core/interrupt.h"
#include "live/runtimes/slurm/lease_file.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRule = "one daemon a cluster";
constexpr std::chrono::milliseconds kLook{100};

Seconds ClaimNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string HostName() {
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  return host;
}

std::string FirstLine(const char* file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// Of this machine since it was booted: on no other one does a process of ours live. A service may
// not see that (ProcSubset=pid), but which machine it is on. "": not known.
std::string BootName() {
  std::string name = FirstLine("/proc/sys/kernel/random/boot_id");
  if (!name.empty()) return name;
  name = FirstLine("/etc/machine-id");
  return name.empty() ? "" : fmt::format("{} {}", HostName(), name);
}

bool May(const fs::path& path, int what) {
  return ::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0;
}

}  // namespace

struct ClusterClaim::Thread {
  Thread(fs::path in, const LeaseTiming& given)
      : folder(std::move(in)),
        timing(given),
        boot(BootName()),
        claim(fmt::format("{}_{}_{}", HostName(), ::getpid(), NewToken()), given) {}
  ~Thread() {
    {
      const std::lock_guard lock(mutex);
      over = true;
    }
    wake.notify_all();
    if (thread.joinable()) thread.join();
    GiveBack();
  }

  LeaseRecord Look() const { return ReadLease(folder); }

  // The lock of a process that lives cannot be had, however little it does.
  bool TryLock() {
    if (locked) return true;
    try {
      locked.emplace(folder / "allot.lock", kRule);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  // "", or why it is not ours. Throws what the file system does.
  std::string Renew() {
    LeaseRecord shown = Look();
    const bool ours = shown.lease.holder == claim.self();
    const bool has_lock = TryLock();
    if (!ours && has_lock && shown.locked && !boot.empty() && shown.boot == boot) {
      shown.lease.holder = "";  // it has died: on one machine a lock lasts as long
    }
    if (!ours && !has_lock) {
      const std::string pid = LockHolder(folder / "allot.lock").value_or("");
      // One that knows of no leases, or has not made or not yet left its own.
      if (shown.lease.holder.empty() || (shown.locked && pid != std::to_string(shown.pid))) {
        return fmt::format("'{}' is in use by process {}", folder.string(), pid);
      }
    }
    const Seconds asked = ClaimNow();
    std::optional<Lease> next;
    {
      const std::lock_guard lock(mutex);
      next = claim.Next(shown.lease, asked, std::to_string(std::time(nullptr)));
      if (!next) {
        if (!ours) locked.reset();
        return fmt::format("'{}' is in use by {}", folder.string(), ShownHolder(claim.holder()));
      }
    }
    const std::int64_t to = next->changes;
    const LeaseRecord written{
        .lease = std::move(*next), .boot = boot, .pid = ::getpid(), .locked = has_lock};
    if (!WriteLease(folder, written, to == shown.lease.changes) || Look().lease.changes != to) {
      locked.reset();
      return fmt::format("'{}': another daemon took the lease", folder.string());
    }
    const std::lock_guard lock(mutex);
    claim.Written(asked);
    number = to;
    return "";
  }

  // Those before are of daemons that are no longer in charge.
  void RemoveEarlier() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::int64_t of = LeaseNumber(entry.path());
      std::error_code ignored;
      if (of > 0 && of < number) fs::remove(entry.path(), ignored);
    }
  }

  std::string TryRenew() {
    try {
      return Renew();
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  Status MayAct() const {
    const std::lock_guard lock(mutex);
    std::error_code error;
    if (claim.held(ClaimNow()) && fs::exists(LeaseFile(folder, number), error) &&
        !fs::exists(LeaseFile(folder, number + 1), error)) {
      return Status::Ok();
    }
    return Status::Refused("lease {} of '{}' must be ours, it is not", number, folder.string());
  }

  void Acquire(bool standby, const std::function<void(const std::string&)>& on_wait) {
    const LeaseRecord before = Look();
    std::string logged;
    for (Seconds look_at = 0;;) {
      ThrowIfInterrupted();
      if (ClaimNow() >= look_at) {
        const std::string why = standby ? TryRenew() : Renew();
        if (why.empty()) break;
        if (!standby && (LockHolder(folder / "allot.lock") || Look() != before)) {
          throw RunError("{}: {}, this is {}", kRule, why, ::getpid());
        }
        if (logged != why) {
          spdlog::info("waiting for the lease of the cluster: {}", why);
          if (on_wait) on_wait(why);
        }
        logged = why;
        look_at = ClaimNow() + timing.renew;
      }
      std::this_thread::sleep_for(kLook);
    }
    RemoveEarlier();
    spdlog::info("acquired lease {} of '{}'", number, folder.string());
    thread = std::thread([this] { Run(); });
  }

  void Run() {
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, std::chrono::duration<double>(timing.renew),
                          [this] { return over; })) {
      lock.unlock();
      const std::int64_t before = number;
      std::string trouble = TryRenew();
      lock.lock();
      // A pause so long that another one came and went is a loss, too.
      if (trouble.empty() && number != before) trouble = "it was another's meanwhile";
      if (trouble.empty() || (claim.held(ClaimNow()) && claim.holder() == claim.self())) continue;
      lost = true;
      spdlog::error("lost lease {}, this daemon ends: {}", before, trouble);
      (void)::kill(::getpid(), SIGTERM);
      return;
    }
  }

  void GiveBack() {
    if (number == 0 || lost || !MayAct().ok()) return;
    try {
      LeaseRecord shown = Look();
      shown.lease.holder = "";
      (void)WriteLease(folder, shown, true);
    } catch (const std::exception& error) {
      spdlog::warn("the lease cannot be released: {}", error.what());
    }
  }

  const fs::path folder;
  const LeaseTiming timing;
  const std::string boot;
  mutable std::mutex mutex;  // of the claim, `number` and `over`
  std::condition_variable wake;
  LeaseClaim claim;
  std::int64_t number = 0;
  bool over = false;
  bool lost = false;
  std::optional<FileLock> locked;
  std::thread thread;
};

ClusterClaim::ClusterClaim(fs::path folder, bool standby, const LeaseTiming& timing,
                           const std::function<void(const std::string&)>& on_wait)
    : thread_(std::make_unique<Thread>(std::move(folder), timing)) {
  thread_->Acquire(standby, on_wait);
}

ClusterClaim::~ClusterClaim() = default;

bool ClusterClaim::MayBeIn(const fs::path& folder) { return May(folder, W_OK | X_OK); }

Status ClusterClaim::MayOpenAllIn(const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool lock = name == "allot.lock";
    if (!lock && name != "allot.key" && name != "allot.address" && LeaseNumber(entry.path()) == 0) {
      continue;
    }
    struct stat found {};
    if (::lstat(entry.path().c_str(), &found) != 0) continue;  // a lease that is over
    if (May(entry.path(), lock ? R_OK | W_OK : R_OK)) continue;
    return Status::Refused(
        "user {} must be able to open '{}', it is of user {} with mode {:o}: another user's daemon "
        "served this cluster before",
        ::geteuid(), entry.path().string(), found.st_uid, found.st_mode & 07777U);
  }
  return error ? Status::Refused("cannot list '{}': {}", folder.string(), error.message())
               : Status::Ok();
}

Status ClusterClaim::MayAct() const { return thread_->MayAct(); }

const fs::path& ClusterClaim::folder() const { return thread_->folder; }

std::int64_t ClusterClaim::number() const {
  const std::lock_guard lock(thread_->mutex);
  return thread_->number;
}

}  // namespace allot
