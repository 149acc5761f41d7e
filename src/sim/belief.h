#pragma once
// What policies believe of the jobs' rates. The simulator plays the truth (JobProcess and the true
// tables); policies see the tables of a belief, which may be wrong and may be renewed while jobs
// run. Nothing that is played depends on a belief but through what policies decide.
//
// A new belief is one file in sim/beliefs/ that registers a BeliefInfo, for --beliefs NAME.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "core/registry.h"
#include "core/types.h"
#include "perf/configuration.h"

namespace allot {

class Scenario;
class TrainingBelief;  // sim/training_belief.h

// Of one episode; not thread-safe.
class Belief {
 public:
  virtual ~Belief() = default;

  // The table that policies are shown of a job, from its arrival until Forget. It lists the
  // configurations of the true table, in its order; its rates are in the job's unit of work. The
  // address stays when rates are renewed, the version of the table changes.
  virtual const ConfigurationTable* TableOf(JobIndex job) = 0;
  virtual void Forget(JobIndex) {}

  // What the cluster measures of a job that runs undisturbed.
  struct RateMeasurement {
    JobIndex job = 0;
    std::int32_t configuration = 0;
    double done = 0;      // work so far
    double rate = 0;      // at this moment
    Seconds seconds = 0;  // since its start, or since it was last measured
  };
  // Takes a measurement; true where the job's table was renewed.
  virtual bool Take(const RateMeasurement&) { return false; }
  // Appends the jobs, beside the measured ones, whose tables were renewed by what was measured
  // since the last call: those that learn from others. Ascending, each once, none that was
  // forgotten.
  virtual void TakeAlsoRenewed(std::vector<JobIndex>*) {}
  // How long a job runs after its start, or after its rate changed, until its rate is measured;
  // kNever: measurements are of no use. A measurement is an event: policies are asked again.
  virtual Seconds measured_after() const { return kNever; }
  // Whether every start is measured; else only changes of the rate.
  virtual bool measures_starts() const { return false; }

  // From now on rates of configurations beyond ConfigurationTable::trusted are not read: they may
  // be 0.
  virtual void LeaveOutUntrusted() {}

  // What jobs that train applications learn of themselves, and how they choose their batch. Null:
  // they know their true iteration times.
  virtual TrainingBelief* training() { return nullptr; }
};

struct BeliefInfo {
  std::string id;
  std::string summary;
  std::vector<ParamSpec> params;  // the first may be given without its name: "noisy:0.5"
  // Null: what is true is believed. UsageError where the scenario's jobs cannot be believed so.
  // The scenario outlives the belief.
  std::function<std::unique_ptr<Belief>(const Params&, const Scenario&)> make;
};

// "exact", "noisy:0.5", "measured". UsageError with did-you-mean, or naming the range.
std::unique_ptr<Belief> MakeBelief(std::string_view spec, const Scenario& scenario);
// Throws what MakeBelief would for a spec that no scenario could have.
void CheckBelief(std::string_view spec);

// The configuration that a job asks for, given as one of the true table, as the belief sees it: the
// same on the first of the table's types that has it.
std::int32_t RequestedAsBelieved(const ConfigurationTable& believed, std::int32_t requested);

}  // namespace allot
