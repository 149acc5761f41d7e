#pragma once
// Something beside the daemon that adds to its status and metrics: the wait forecasts. The daemon's
// thread calls it a few times a second, for each job in turn, so it must answer at once.

#include <string>

#include "live/status/status.h"

namespace allot {

class StatusPart {
 public:
  virtual ~StatusPart() = default;
  virtual void AddTo(JobStatus* job) const = 0;
  virtual std::string MetricsText() const = 0;  // in Prometheus' text format 0.0.4
};

}  // namespace allot
