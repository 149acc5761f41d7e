#pragma once
// Which of several daemons is in charge of a Slurm cluster: the holder of a lease in slurm.conf's
// StateSaveLocation, the folder that a cluster has once, that only SlurmUser and root may write,
// and that a backup controller shares. Made by the Slurm runtime before anything else begins;
// renewed by a thread of its own. Who loses the lease does nothing more and ends.
//
//   allot.lease.N   the lease for the N-th time (lease_file.h): N is the fencing number
//   allot.lock      locked by the holder as long as its process lives, so that one that has died on
//                   this machine need not be waited for.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/error.h"
#include "live/runtimes/lease_claim.h"

namespace allot {

class ClusterClaim {
 public:
  // One that has died silently is followed after `duration`; so it must be small beside the 15 s in
  // which a standby is to be in charge.
  static constexpr LeaseTiming kTiming{.duration = 8, .hold = 5, .renew = 1};

  // Returns once this daemon has the lease. If another daemon is active, waits with `standby` and
  // calls `on_wait` with its name; without, RunError ("one daemon a cluster"). Error with
  // ExitCode::kInterrupted if the user ends the program meanwhile.
  ClusterClaim(std::filesystem::path folder, bool standby, const LeaseTiming& timing = kTiming,
               const std::function<void(const std::string& why)>& on_wait = {});
  ~ClusterClaim();  // gives it back, so that the next one need not wait
  ClusterClaim(const ClusterClaim&) = delete;
  ClusterClaim& operator=(const ClusterClaim&) = delete;

  // Whether this user may make files there.
  static bool MayBeIn(const std::filesystem::path& folder);
  // Refused naming the first of such a cluster's files there that this user may not open, as where
  // root served the cluster before: without it this daemon would have another key.
  static Status MayOpenAllIn(const std::filesystem::path& folder);

  // Ok as long as nobody else can be in charge: it was renewed in time, and no later one is there.
  // To be asked before each change. Any thread.
  Status MayAct() const;
  std::int64_t number() const;  // of the lease that is ours
  const std::filesystem::path& folder() const;

 private:
  struct Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace allot
