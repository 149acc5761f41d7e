#pragma once
// The future of an episode. Only simulated episodes have one. Only policies that say `oracle` in
// their PolicyInfo may use it.

#include "sched/policy.h"

namespace allot {

class Application;  // perf/application.h

// An application, and the total batch that the job's user asked for.
struct RequestedTraining {
  const Application* application = nullptr;  // null: it trains none
  double batch = 0;
};

class Foresight {
 public:
  virtual ~Foresight() = default;

  virtual JobIndex jobs() const = 0;  // of the episode

  // The true work of a job, in its own unit. O(1).
  virtual double TrueWork(JobIndex job) const = 0;

  // What a job trains. O(1).
  virtual RequestedTraining TrainingOf(JobIndex) const { return {}; }

  // Simulates the whole episode under `policy`. Returns the mean JCT in seconds; infinite when a
  // job does not finish.
  virtual double MeanJct(Policy& policy) const = 0;
};

}  // namespace allot
