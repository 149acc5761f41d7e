#pragma once
// The seam for everything that decides. A policy maps an observation to an allocation. It owns no
// cluster, no clock and no files, so the same object runs simulated and live clusters.
//
// A new heuristic is one file in agents/heuristic/ that registers a PolicyInfo (docs/adding.md).

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/cluster_spec.h"
#include "cluster/observation.h"
#include "core/params.h"
#include "core/registry.h"
#include "sched/rates_read.h"
#include "workload/job.h"

namespace allot {

class Foresight;          // sched/foresight.h
class IncrementalPolicy;  // sched/incremental.h
class Policy;
class SharesTime;  // sched/time_shares.h

// What a policy says about itself.
struct PolicyInfo {
  std::string id;        // "srtf"
  std::string summary;   // one line
  std::string source{};  // paper and section, or who else thought of it
  // It reads Observation::estimated_work. Where that is the true length, its results are marked as
  // those of an oracle.
  bool needs_lengths = false;
  // Its answer may change with time alone (attained service, age). It is then asked at every
  // interval. A policy that is not time-driven is asked only when a job has arrived or ended, a
  // node has come or gone, or the rates of a table were renewed.
  bool time_driven = false;
  // It uses the foresight of the episode: a point of reference, never a real scheduler.
  bool oracle = false;
  // On clusters of one GPU type; on others all rates are kept. What is decided must not depend on
  // the rates that it says it does not read.
  RatesRead rates = RatesRead::kAll;
  std::vector<ParamSpec> params;
  // Makes the policy. Throws UsageError for values that it does not accept.
  std::function<std::unique_ptr<Policy>(const Params&)> make;
};

inline PolicyInfo WithSource(std::string source, PolicyInfo info) {
  info.source = std::move(source);
  return info;
}

// What a policy gets at the start of an episode.
struct EpisodeContext {
  std::uint64_t seed = 0;                // of all its random numbers (core/rng.h)
  const ClusterSpec* cluster = nullptr;  // null: not known yet
  // Null: there is none, as on a live cluster. Only oracles may use it. Outlives the episode.
  const Foresight* foresight = nullptr;
  // Names by Observation::tenant. Null: not all known in advance. Outlives the call only.
  const std::vector<std::string>* tenants = nullptr;
  // What each job is charged to. Empty: not known. Outlives the episode.
  std::function<Charge(JobIndex)> charge_of{};
};

// Facts about an episode for people, as (name, text): how often a policy fell back, and why.
using PolicyNotes = std::vector<std::pair<std::string, std::string>>;

class Policy {
 public:
  virtual ~Policy() = default;

  // The same for the whole life of the policy.
  virtual const PolicyInfo& info() const = 0;

  // Called before the first decision of each episode. The policy forgets the episode before.
  virtual void OnEpisodeStart(const EpisodeContext&) {}

  // Decides who runs, in which configuration, on which GPUs. The policy clears `allocation` first.
  //
  // The answer depends on the observation and on what the policy saw earlier in the episode; never
  // on a clock, on other random numbers than those of the episode's seed, or on the order of rows.
  // It must obey the rules of cluster/validate.h; the driver refuses it otherwise. A policy that
  // cannot decide throws Error.
  //
  // Cost: about O(rows log rows). `allocation` and the policy's own buffers are reused, so that
  // after some decisions no memory is allocated.
  virtual void Decide(const Observation& observation, Allocation* allocation) = 0;

  // For the summary of a run; of the episode so far.
  virtual PolicyNotes notes() const { return {}; }

  // The optional side: answers as changes, and promises how long an answer is valid. It makes runs
  // faster and never changes decisions. Null if there is none.
  virtual IncrementalPolicy* incremental() { return nullptr; }

  // Not null: its fractions of time are to be had as they are, without rounds (Gavel's --ideal).
  // Decide then throws.
  virtual SharesTime* ideal_shares() { return nullptr; }
};

// Makes a policy from text: "las" or "las:queues=3600|36000,backfill=false". UsageError with
// suggestions for an unknown name or parameter. `loader` reads the files that parameters name
// (workload/history_file.h); without it, a policy that names one is refused.
std::unique_ptr<Policy> MakePolicy(std::string_view spec, const ParamLoader& loader = {});

// The files and folders that a spec names, in its stages and in policies inside it too: what the
// policy is made from besides the program. Nothing for a name that is not known.
std::vector<std::string> FilesOfPolicy(const std::string& spec);
// Of a policy in the parameter of another one, "NAME/key=value/...".
std::vector<std::string> FilesOfInnerPolicy(const std::string& value);

}  // namespace allot
