#pragma once
// The checks of 'allot doctor' on a daemon that answers, by the status that it sends.

#include <optional>
#include <string>
#include <vector>

#include "live/health/health_check.h"
#include "live/status/status.h"

namespace allot {

struct DaemonFacts {
  DaemonStatus status;
  double now = 0;                              // Unix time
  std::optional<std::string> workers_address;  // "tcp:10.0.0.1:7171"; unset: its workers need none
  bool workers_reach = false;                  // somebody listens there
};

std::vector<HealthFinding> LookAtDaemon(const DaemonFacts& facts);

}  // namespace allot
