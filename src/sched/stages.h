#pragma once
// The stages that a policy can be composed of (the abstractions of Blox, EuroSys'24, section 3):
// admission, ordering, sizing, placement, asked in this order at every decision; on clusters of
// several GPU types also type assignment, before sizing. Each can be
// exchanged on its own. The policy `shared` has a sharing in the place of ordering and sizing
// (stages/rounds/sharing.h). A new stage is one file in its folder (stages/ordering/, ...) that
// registers its info.
//
// Rows are indices into the columns of the observation. As with policies, an answer depends on the
// observation and on what the stage saw earlier in the episode; never on a clock or on the order of
// rows. Making a stage throws UsageError for values that it does not accept.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/observation.h"
#include "core/named_files.h"
#include "core/params.h"
#include "core/registry.h"
#include "sched/rates_read.h"

namespace allot {

struct EpisodeContext;       // sched/policy.h
class IncrementalOrdering;   // sched/incremental_stages.h
class IncrementalPlacement;  // sched/incremental_stages.h

// Which jobs may be considered at all.
class Admission {
 public:
  virtual ~Admission() = default;
  virtual void OnEpisodeStart(const EpisodeContext&) {}

  // Appends the admitted rows to `rows`, ascending. O(rows log rows) at most.
  virtual void Admit(const Observation& observation, std::vector<std::int32_t>* rows) = 0;
};

// Who comes first.
class Ordering {
 public:
  virtual ~Ordering() = default;
  virtual void OnEpisodeStart() {}

  // False: jobs that run come before jobs that wait, whatever their keys.
  virtual bool preemptive() const { return true; }

  // Sets keys[i] for rows[i], in any unit. The smaller key comes first; of equal keys, the job that
  // was submitted first. No key is NaN. O(rows).
  virtual void Keys(const Observation& observation, std::span<const std::int32_t> rows,
                    std::vector<double>* keys) = 0;

  // The optional side: how keys change with time. Null if that is unknown.
  virtual const IncrementalOrdering* incremental() const { return nullptr; }
};

inline constexpr GpuTypeIndex kNoType = -1;

// The input of a type assignment.
struct TypeQuestion {
  std::span<const std::int32_t> order;  // rows, best first
  // By place in the order, like all below: the configuration with the job's number of units.
  std::span<const std::int32_t> sizes;
  // The weight of a running job, > 0; empty: the order alone decides which jobs run.
  std::span<const double> weights;
  std::size_t first = 0;  // so many of the order come before all others, whatever their weights
  bool moves = true;      // false: running jobs keep their types
};

// Assigns a GPU type to each job, or lets it wait.
class TypeAssignment {
 public:
  virtual ~TypeAssignment() = default;

  // True if the stage applies to this cluster.
  virtual bool AppliesTo(const ClusterSpec& cluster) const { return cluster.types().size() > 1; }

  // Clears `types`, then sets types[i] for order[i]; kNoType lets the job wait. The jobs of a type
  // need no more GPUs than it has. If `types` stays empty, the sizing chooses types itself.
  virtual void Assign(const Observation& observation, const TypeQuestion& question,
                      std::vector<GpuTypeIndex>* types) = 0;

  // True if it may let two jobs share GPUs.
  virtual bool pairs() const { return false; }
  // After Assign, by place: the place of the job on the same GPUs, or -1. Both have the same type,
  // and their GPUs count once. Empty if no jobs share GPUs.
  virtual std::span<const std::int32_t> partners() const { return {}; }
};

// The configuration that a row gets.
struct Grant {
  std::int32_t row;
  std::int32_t configuration;  // index into the job's table
  bool anew = false;           // it gets another partner, so that moving it loses nothing
};

// Chooses the configuration of each job.
class Sizing {
 public:
  virtual ~Sizing() = default;

  // Appends grants, in the order in which placement shall serve them: at most one for each row, all
  // together within the totals of the cluster for each GPU type (a sizing may exceed them where its
  // parameters say so). Rows without a grant get nothing.
  // `order` has the admitted rows, best first; `keys[i]` is the key of order[i].
  virtual void Size(const Observation& observation, std::span<const std::int32_t> order,
                    std::span<const double> keys, std::vector<Grant>* grants) = 0;

  // True if it obeys assigned types. Rows with a type then come first in the order; the others may
  // use the GPUs that these leave.
  virtual bool takes_types() const { return false; }
  // True if it only uses the requested size.
  virtual bool as_requested() const { return false; }
  // Sets the types for the next calls of Size, by place in the order; empty: Size chooses them.
  void GiveTypes(std::span<const GpuTypeIndex> types) { types_ = types; }
  // Sets the weights of a type question, or leaves them empty.
  virtual void Weigh(const Observation& /*observation*/, const TypeQuestion& /*asked*/,
                     std::span<const double> /*keys*/, std::vector<double>* /*weights*/) {}

  // True if it reads lengths with its parameters; called only for kinds that may (needs_lengths).
  virtual bool reads_lengths() const { return true; }

  // True if it finds the GPUs of its grants itself, and the placement stage is not used.
  virtual bool places() const { return false; }
  // If it places: the GPUs of the i-th grant of the last Size. Valid until the next Size.
  virtual std::span<const NodeShare> PlaceOf(std::size_t /*i*/) const { return {}; }

 protected:
  bool has_types() const { return !types_.empty(); }
  std::span<const GpuTypeIndex> given_types() const { return types_; }
  // True if the job at this place of the order may have this type.
  bool MayHave(std::size_t place, GpuTypeIndex type) const {
    return types_.empty() || types_[place] == kNoType || types_[place] == type;
  }

 private:
  std::span<const GpuTypeIndex> types_;
};

// Chooses the GPUs of each grant.
class Placement {
 public:
  virtual ~Placement() = default;

  // Clears `allocation`, then adds an entry for each grant that can be placed; the others are left
  // out. The entries obey the rules of cluster/validate.h.
  virtual void Place(const Observation& observation, std::span<const Grant> grants,
                     Allocation* allocation) = 0;

  // In absolute seconds: when the last answer to the same grants may change though nothing happens.
  // Asked only of placements that repeat (StageInfo).
  virtual Seconds HoldsUntil() const { return kNever; }

  // The optional side: the same answer as changes. Null if it only gives full answers.
  virtual IncrementalPlacement* incremental() { return nullptr; }
};

template <typename Stage>
struct StageInfo {
  std::string id;
  std::string summary;
  bool needs_lengths = false;  // as in PolicyInfo
  bool time_driven = false;    // as in PolicyInfo
  // True if equal inputs give equal answers, so that a policy of stages can promise that its answer
  // stays valid. For a sizing: which rows run depends on their order alone, until a waiting row
  // passes a running one. For a placement: the same grants get the same GPUs while its answer runs.
  // Not used for other stages.
  bool repeats = false;
  RatesRead rates = RatesRead::kAll;  // as in PolicyInfo
  std::vector<ParamSpec> params;
  std::function<std::unique_ptr<Stage>(const Params&)> make;
};

using AdmissionInfo = StageInfo<Admission>;
using OrderingInfo = StageInfo<Ordering>;
using TypeAssignmentInfo = StageInfo<TypeAssignment>;
using SizingInfo = StageInfo<Sizing>;
using PlacementInfo = StageInfo<Placement>;

// The parameter of a policy that names one of its stages.
template <typename Stage>
ParamSpec StageParam(ParamSpec spec) {
  return FileParam(std::move(spec), FilesOfPart<StageInfo<Stage>>);
}

// Makes a stage from text: "id" or "id:key=value,...". `kind` is for messages ("placement").
// UsageError with suggestions for an unknown name or parameter. `loader`: as in MakePolicy.
template <typename Stage>
std::unique_ptr<Stage> MakeStage(std::string_view kind, std::string_view spec,
                                 const ParamLoader& loader = {}) {
  const NamedParams named = ParseNamedParams(spec);
  const auto& info = Registry<StageInfo<Stage>>::Global().Get(kind, named.name);
  return info.make(Params(fmt::format("{} '{}'", kind, info.id), info.params, named.given, loader));
}

}  // namespace allot
