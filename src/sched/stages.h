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

  // The optional side: how keys change with time. Null: nothing is known of that.
  virtual const IncrementalOrdering* incremental() const { return nullptr; }
};

inline constexpr GpuTypeIndex kNoType = -1;

// What a type assignment is asked.
struct TypeQuestion {
  std::span<const std::int32_t> order;  // rows, best first
  // By place in the order, as all below: the configuration of as many units as the job is to have.
  std::span<const std::int32_t> sizes;
  // What a running job is worth as it is, > 0; empty: the order alone says who runs.
  std::span<const double> weights;
  std::size_t first = 0;  // so many of the order come before all others, whatever their weights
  bool moves = true;      // false: who runs keeps its type and goes on
};

// On which GPU type each job runs, or that it waits.
class TypeAssignment {
 public:
  virtual ~TypeAssignment() = default;

  // Whether it has something to say on this cluster.
  virtual bool Concerns(const ClusterSpec& cluster) const { return cluster.types().size() > 1; }

  // Clears `types`, then sets types[i] for order[i], kNoType: it waits. The jobs of a type need no
  // more GPUs than it has. Or leaves `types` empty: the sizing chooses types itself.
  virtual void Assign(const Observation& observation, const TypeQuestion& question,
                      std::vector<GpuTypeIndex>* types) = 0;

  // True: it may have two jobs share GPUs.
  virtual bool pairs() const { return false; }
  // Of the last Assign, by place: the place of the job on the same GPUs, -1: alone. Both have the
  // same type, and their GPUs count once. Empty: all are alone.
  virtual std::span<const std::int32_t> partners() const { return {}; }
};

// A row is given a configuration: an index into the job's table.
struct Grant {
  std::int32_t row;
  std::int32_t configuration;
  bool anew = false;  // it runs beside another job than before: nothing is lost where it moves
};

// How much each job gets.
class Sizing {
 public:
  virtual ~Sizing() = default;

  // Appends grants, in the order in which placement shall serve them: at most one for each row, all
  // together within the totals of the cluster for each GPU type (a sizing may exceed them where its
  // parameters say so). Rows without a grant get nothing.
  // `order`: the admitted rows, best first. `keys[i]`: the key of order[i].
  virtual void Size(const Observation& observation, std::span<const std::int32_t> order,
                    std::span<const double> keys, std::vector<Grant>* grants) = 0;

  // True: it keeps to types that it is given. Then those that were assigned one come first in the
  // order; the others may have what these leave over.
  virtual bool takes_types() const { return false; }
  // True: it knows no size but the requested one.
  virtual bool as_requested() const { return false; }
  // For the next calls of Size: by place in their order; empty: it chooses itself. Read by Size.
  void GiveTypes(std::span<const GpuTypeIndex> types) { types_ = types; }
  // Sets the weights of a type question, or leaves them empty.
  virtual void Weigh(const Observation& /*observation*/, const TypeQuestion& /*asked*/,
                     std::span<const double> /*keys*/, std::vector<double>* /*weights*/) {}

  // Whether it reads lengths as it was made; asked only of kinds that may (needs_lengths).
  virtual bool reads_lengths() const { return true; }

  // True: it finds the GPUs of its grants itself, and the placement stage is not asked.
  virtual bool places() const { return false; }
  // If it places: the GPUs of the i-th grant of the last Size. Valid until the next Size.
  virtual std::span<const NodeShare> PlaceOf(std::size_t /*i*/) const { return {}; }

 protected:
  bool has_types() const { return !types_.empty(); }
  std::span<const GpuTypeIndex> given_types() const { return types_; }
  // Whether the job at this place of the order may have this type.
  bool MayHave(std::size_t place, GpuTypeIndex type) const {
    return types_.empty() || types_[place] == kNoType || types_[place] == type;
  }

 private:
  std::span<const GpuTypeIndex> types_;
};

// Which GPUs on which nodes.
class Placement {
 public:
  virtual ~Placement() = default;

  // Clears `allocation`, then adds an entry for each grant that can be placed; the others are left
  // out. The entries obey the rules of cluster/validate.h.
  virtual void Place(const Observation& observation, std::span<const Grant> grants,
                     Allocation* allocation) = 0;

  // The optional side: the same answer as changes. Null: full answers only.
  virtual IncrementalPlacement* incremental() { return nullptr; }
};

template <typename Stage>
struct StageInfo {
  std::string id;
  std::string summary;
  bool needs_lengths = false;  // as in PolicyInfo
  bool time_driven = false;    // as in PolicyInfo
  // Says that answers repeat, which lets a policy of stages promise that they hold. Of a sizing:
  // who runs depends on the order of the rows alone, and stays the same until a row that waits
  // passes one that runs. Of a placement: the same grants, asked again while its answer runs, get
  // the same answer. Not used of other stages.
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
