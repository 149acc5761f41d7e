#pragma once
// The stages a policy can be composed of (the abstractions of Blox, EuroSys'24, section 3), each
// swappable on its own: admission -> ordering -> sizing -> placement. One file per stage in
// stages/admission, stages/ordering, stages/sizing, stages/placement; each registers itself.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/free_map.h"
#include "cluster/observation.h"
#include "core/params.h"
#include "core/registry.h"

namespace allot {

struct EpisodeContext;  // sched/policy.h

// Which unfinished jobs may be considered at all.
class Admission {
 public:
  virtual ~Admission() = default;
  virtual void OnEpisodeStart(const EpisodeContext&) {}
  // Appends admitted rows, ascending.
  virtual void Admit(const Observation& observation, std::vector<std::int32_t>* rows) = 0;
};

// Who comes first. Smaller keys first; ties go to the earlier (submit, JobIndex).
class Ordering {
 public:
  virtual ~Ordering() = default;
  virtual void OnEpisodeStart() {}
  virtual bool preemptive() const { return true; }  // false: running jobs precede waiting ones
  virtual void Keys(const Observation& observation, std::span<const std::int32_t> rows,
                    std::vector<double>* keys) = 0;

  // Whether a job's key is of its own row alone and moves only while the job attains service, so
  // that nobody else's need be asked for again.
  virtual bool by_own_service() const { return false; }

  // How keys move while nothing arrives or ends: those of waiting jobs do not before WaitMoves,
  // that of a row which runs in `configuration` from now on rises by at most `rate` a second until
  // `until`; after that nothing is said. Asked only of orders that are time-driven.
  struct Drift {
    double rate = 0;
    Seconds until = kNever;
  };
  virtual Drift DriftOf(const Observation& observation, std::int32_t /*row*/,
                        std::int32_t /*configuration*/) const {
    return {0, observation.now};
  }
  // When the key of any of these rows, which wait from now on, may change by itself; kNever: none
  // does.
  virtual Seconds WaitMoves(const Observation&, std::span<const std::int32_t> /*rows*/) const {
    return kNever;
  }
};

// How much each gets: picks a configuration for the rows, within the cluster's totals per GPU type.
struct Grant {
  std::int32_t row;
  std::int32_t configuration;
};
class Sizing {
 public:
  virtual ~Sizing() = default;
  // `order`: rows, best first. `keys[i]`: the ordering's key of order[i]. Appends grants, in the
  // order in which placement shall serve them.
  virtual void Size(const Observation& observation, std::span<const std::int32_t> order,
                    std::span<const double> keys, std::vector<Grant>* grants) = 0;

  // Whether it must find a node for every unit as it goes; the placement stage is then not asked.
  virtual bool places() const { return false; }
  // Of such a sizing: where the i-th grant of the last call is; valid until the next.
  virtual std::span<const NodeShare> PlaceOf(std::size_t /*i*/) const { return {}; }

  // Whether who runs follows from the order of the rows alone, a waiting job staying behind the
  // same running ones: what StagedPolicy needs to promise that an answer holds.
  virtual bool follows_order() const { return false; }
};

// Where: turns grants into GPUs on nodes. A grant that cannot be placed is left out.
class Placement {
 public:
  virtual ~Placement() = default;
  virtual void Place(const Observation& observation, std::span<const Grant> grants,
                     Allocation* allocation) = 0;

  // The same as changes, where it knows how.
  virtual void PlaceChanges(const Observation& observation, std::span<const Grant> grants,
                            Allocation* allocation) {
    Place(observation, grants, allocation);
  }

  // Whether the same grants, asked again while its answer runs, get the same answer.
  virtual bool settles() const { return true; }
};

template <typename Stage>
struct StageInfo {
  std::string id;
  std::string summary;
  bool needs_lengths = false;
  bool time_driven = false;
  std::vector<ParamSpec> params;
  std::function<std::unique_ptr<Stage>(const Params&)> make;
};

using AdmissionInfo = StageInfo<Admission>;
using OrderingInfo = StageInfo<Ordering>;
using SizingInfo = StageInfo<Sizing>;
using PlacementInfo = StageInfo<Placement>;

// The stage named by "id:key=value,..."; `kind` for messages ("placement").
template <typename Stage>
std::unique_ptr<Stage> MakeStage(std::string_view kind, std::string_view spec) {
  const NamedParams named = ParseNamedParams(spec);
  const auto& info = Registry<StageInfo<Stage>>::Global().Get(kind, named.name);
  return info.make(Params(fmt::format("{} '{}'", kind, info.id), info.params, named.given));
}

}  // namespace allot
