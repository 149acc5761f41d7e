#pragma once
// A simulation as one watches it: a view of the cluster before every decision, at a chosen speed.

#include <functional>
#include <string>

#include "live/screens/top.h"
#include "sched/driver.h"
#include "sim/scenario.h"

namespace allot {

// Hands a view of every decision to `watch`, which may wait, and throw to end the run.
class TopListener : public DecisionListener {
 public:
  using Watch = std::function<void(const TopView& view)>;
  TopListener(const Scenario& scenario, std::string title, Watch watch)
      : scenario_(scenario), title_(std::move(title)), watch_(std::move(watch)) {}
  void OnDecision(const Observation& observation, const Allocation& allocation) override;

 private:
  const Scenario& scenario_;
  std::string title_;
  Watch watch_;
  JobIndex come_ = 0;  // jobs
};

}  // namespace allot
