#pragma once
// The seam for everything that decides. A policy maps an observation to an allocation; it owns no
// cluster, no clock and no files, and the same object runs simulated and live clusters.
//
// A new heuristic is one file in agents/heuristic/ that registers a PolicyInfo.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/cluster_spec.h"
#include "cluster/observation.h"
#include "core/params.h"
#include "core/registry.h"

namespace allot {

class Policy;

struct PolicyInfo {
  std::string id;       // "srtf"
  std::string summary;  // one line
  bool needs_lengths =
      false;  // reads estimated_work; its rows are oracle rows when that is the truth
  bool time_driven = false;  // may change its mind with time alone (service, ageing), not only on
                             // arrivals, completions and resizes; asked every interval, or
                             // when the last answer's HoldUntil is over
  bool oracle = false;  // uses the episode's foresight: a point of reference, never a scheduler
  std::vector<ParamSpec> params;
  std::function<std::unique_ptr<Policy>(const Params&)> make;
};

// The episode that is to come. Only simulated episodes have one, and only policies that say
// `oracle` in their info may look.
class Foresight {
 public:
  virtual ~Foresight() = default;
  virtual JobIndex jobs() const = 0;
  virtual double TrueWork(JobIndex job) const = 0;
  // The mean JCT of the whole episode under `policy`; infinite when a job does not finish.
  virtual double MeanJct(Policy& policy) const = 0;
};

struct EpisodeContext {
  std::uint64_t seed = 0;
  const ClusterSpec* cluster = nullptr;
  const Foresight* foresight = nullptr;  // outlives the episode
  // Names by Observation::tenant, where the run knows them all in advance; outlives the call.
  const std::vector<std::string>* tenants = nullptr;
};

class Policy {
 public:
  virtual ~Policy() = default;
  virtual const PolicyInfo& info() const = 0;
  virtual void OnEpisodeStart(const EpisodeContext&) {}

  // Pure in (own state, observation): no wall clock, no global randomness. `allocation` is cleared
  // by the callee and reused between calls, so that a decision need not allocate memory.
  virtual void Decide(const Observation& observation, Allocation* allocation) = 0;

  // The same for who takes an answer that is given as changes, and asks afterwards how long it
  // holds, as it is not always of interest: `applied` is what was observed, with the answer in
  // force.
  virtual void DecideChanges(const Observation& observation, Allocation* allocation) {
    Decide(observation, allocation);
  }
  virtual Seconds HoldsUntil(const Observation& /*applied*/, const Allocation& allocation) {
    return allocation.holds_until();
  }
};

// "las" or "las:queues=3600|36000,backfill=false". UsageError with did-you-mean.
std::unique_ptr<Policy> MakePolicy(std::string_view spec);

}  // namespace allot
