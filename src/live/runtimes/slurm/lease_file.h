#pragma once
// The lease of a Slurm cluster as a file of the folder that a cluster has once: allot.lease.N,
// JSON, the lease for the N-th time. To take the lease is to make the file N+1, which one alone
// can; its holder alone renews it; the highest counts. For ClusterClaim. What the file system says
// is thrown as RunError or std::filesystem::filesystem_error.

#include <cstdint>
#include <filesystem>
#include <string>

#include "live/runtimes/lease_claim.h"

namespace allot {

struct LeaseRecord {
  Lease lease;  // its changes are the number of the file; 0: there never was one
  // Of the holder: a process that has died on this machine has lost its lock.
  std::string boot;
  long pid = 0;
  bool locked = false;

  bool operator==(const LeaseRecord&) const = default;
};

// N of allot.lease.N; 0: another file.
std::int64_t LeaseNumber(const std::filesystem::path& file);
std::filesystem::path LeaseFile(const std::filesystem::path& folder, std::int64_t number);

// Of a holder HOST_PID_TOKEN what people need: "HOST, process PID".
std::string ShownHolder(const std::string& holder);

// The highest. One that cannot be read is of the holder "unreadable", who may renew it.
LeaseRecord ReadLease(const std::filesystem::path& folder);

// Over the file of its number where that is `ours`, else as a new one; false: somebody else has
// made it before. It need not outlive a power failure: its holder does not either.
bool WriteLease(const std::filesystem::path& folder, const LeaseRecord& record, bool ours);

}  // namespace allot
