#pragma once
// What advice is worth over some days: waits as they were estimated when a job was first seen, in
// the scheduler's own order and as advised, and how long those that have started did wait. As text,
// JSON and metrics.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/types.h"
#include "metrics/bootstrap.h"

namespace allot {

struct Worth {
  int jobs = 0;
  Seconds own = 0;  // means of the estimates
  Seconds advised = 0;
  int started = 0;          // of these jobs
  Seconds came = kUnknown;  // their mean wait
  // 1 - advised / own; unknown where nobody would wait. The interval is that of days drawn again,
  // unknown of fewer than three days.
  Estimate shorter{};
};

struct WorthOfUser {
  std::string user;
  std::string account;
  Worth worth;
};

struct WorthReport {
  Seconds from = 0;  // Unix times
  Seconds until = 0;
  Worth all{};
  std::vector<WorthOfUser> users{};  // who would wait longest in all first
};

std::string WorthText(const WorthReport& report);
nlohmann::ordered_json ToJson(const WorthReport& report);
// In Prometheus' text format, for the textfile collector of its node exporter.
std::string WorthMetrics(const WorthReport& report);

}  // namespace allot
