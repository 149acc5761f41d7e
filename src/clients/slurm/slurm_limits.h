#pragma once
// The limits of GPUs in Slurm's accounting, as its controller says them: a part of each
// SlurmSnapshot. What they mean for a job is for GpuLimits (gpu_limits.h).

#include <optional>
#include <string>
#include <vector>

#include "core/types.h"

namespace allot {

// How often limits and partitions are asked for: they change seldom, and there may be thousands of
// limits.
inline constexpr Seconds kSettingsEvery = 30;

// Limits of GPUs of any type, of Slurm's accounting (TRES gres/gpu); nullopt: none.
struct SlurmAssociation {
  std::string account;
  std::string user;             // "": all of the account and of those below it
  std::string partition;        // "": all
  std::string parent;           // of an account; "": none
  std::optional<int> together;  // of all its jobs (GrpTRES)
  std::optional<int> a_job;     // MaxTRESPerJob

  friend bool operator==(const SlurmAssociation&, const SlurmAssociation&) = default;
};

struct SlurmQos {
  std::string name;
  std::optional<int> together;    // GrpTRES
  std::optional<int> a_user;      // MaxTRESPerUser; by programs known once a user has jobs
  std::optional<int> an_account;  // MaxTRESPerAccount; the same
  std::optional<int> a_job;       // MaxTRESPerJob

  friend bool operator==(const SlurmQos&, const SlurmQos&) = default;
};

// Those that limit something; without accounting none.
struct SlurmLimits {
  std::vector<SlurmAssociation> associations;  // and all accounts, for what is above them
  std::vector<SlurmQos> qos;

  friend bool operator==(const SlurmLimits&, const SlurmLimits&) = default;
};

}  // namespace allot
