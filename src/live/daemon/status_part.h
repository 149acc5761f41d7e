#pragma once
// What somebody beside the daemon has to add to its status and metrics. Asked in the daemon's
// thread a few times a second, for the status of each job in turn, so it must answer at once.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace allot {

class StatusPart {
 public:
  virtual ~StatusPart() = default;
  virtual void AddTo(nlohmann::ordered_json* job) const = 0;  // an object of status["jobs"]
  virtual std::string MetricsText() const = 0;                // Prometheus' text format 0.0.4
};

}  // namespace allot
