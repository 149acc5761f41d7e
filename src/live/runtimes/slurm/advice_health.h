#pragma once
// What 'allot doctor' thinks of a Slurm cluster for 'allot advise' (docs/monday.md).

#include <cstdint>
#include <string>
#include <vector>

#include "clients/slurm/slurm_back_end.h"
#include "live/health/health_check.h"
#include "live/runtimes/slurm/slurm_options.h"

namespace allot {

struct AdviceFacts {
  SlurmSettings settings;
  std::uint32_t user_id = 0;  // of this process
  std::string admin_level;    // of this user in Slurm's accounting; "": none
};

// Whether this user may change the Nice of all jobs, and make it smaller again.
Status MayWriteNice(const OpenedSlurm& slurm);

std::vector<HealthFinding> CheckAdvice(const AdviceFacts& facts);

}  // namespace allot
