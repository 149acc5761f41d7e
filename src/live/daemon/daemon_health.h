#pragma once
// What 'allot doctor' thinks of a daemon that answers, from what it says.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/types.h"
#include "live/health/health_check.h"

namespace allot {

struct DaemonFacts {
  nlohmann::ordered_json status = nlohmann::ordered_json::object();  // live/daemon/daemon.h
  double now = 0;                                                    // Unix time
  std::string workers_address;  // "tcp:10.0.0.1:7171"; "": its workers need none
  bool workers_reach = false;   // somebody listens there
  std::size_t nodes = 0;
};

std::vector<HealthFinding> LookAtDaemon(const DaemonFacts& facts);

}  // namespace allot
