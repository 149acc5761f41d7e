#pragma once
// Throughput models: how fast a job runs on a placement, in a state of its training. One file per
// model in this folder, which registers how rows of a catalogue make one.
//
// A model whose rate depends on more than a configuration says overrides varies() and, where
// training changes it, ConstantUntil(); the simulator then plays the model itself (sim/scenario.h),
// and tables hold its rates at a point of training and on as few nodes as the span allows.
//
// A profile is a named ThroughputModel ("resnet50:64"); perf/catalogue.h holds the profiles that a
// workload may name, perf/table_cache.h turns them into configuration tables.

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/registry.h"
#include "core/types.h"
#include "perf/catalogue_row.h"
#include "perf/configuration_key.h"
#include "perf/units.h"

namespace allot {

// The GPU type of a cluster that names none: of profiles the reference type, whatever it is called.
inline constexpr std::string_view kUnnamedGpuType = "gpu";

// How the place of a job slows it down, as factors of time against the best place for its size;
// 1: not at all.
struct PlaceFactors {
  double level = 1;       // of communication: the lowest level of the topology that holds the job
  double slowest = 1;     // of computation: the slowest of its GPUs
  double congestion = 1;  // of communication: other jobs on the same uplinks

  bool operator==(const PlaceFactors&) const = default;
};

// What a job runs on. Views: whoever makes one keeps what it points to.
struct RunShape {
  std::string_view gpu_type;
  std::span<const UnitCounts> nodes;  // units on each node, in the order of the allocation's shares
  std::string_view partner;           // profile of the job that shares its GPUs; "": alone
  PlaceFactors place{};               // only placed models (perf/placed_model.h) read it

  UnitCounts units() const {
    UnitCounts sum;
    for (const UnitCounts& units : nodes) sum += units;
    return sum;
  }
};

// How far the job's training is.
struct TrainingState {
  double done_work = 0;
  double noise_scale = kUnknown;  // of its gradients, measured (Pollux); NaN: as the model says
};

class ThroughputModel {
 public:
  virtual ~ThroughputModel() = default;
  virtual const std::string& name() const = 0;
  virtual const std::vector<UnitKind>& kinds() const = 0;
  // Work per second; <= 0 where it does not progress, as measured. A model ignores what it does not
  // know of. Pure, thread-safe.
  virtual double Rate(const RunShape& shape, const TrainingState& state) const = 0;
  // Whether the rate depends on the state of training, or on how units lie on their nodes beyond
  // type and span.
  virtual bool varies() const { return false; }
  // The done work, above `done`, up to which the rate of every shape is what it is at `done`.
  virtual double ConstantUntil(double /*done*/) const {
    return std::numeric_limits<double>::infinity();
  }
  // The work of a whole training; 0: a job says how much it has.
  virtual double total_work() const { return 0; }
  // Whether tables have a configuration of so many GPUs, where the job's limits and the type allow
  // it; always of the least and the requested number. By default up to 8, multiples of 4 up to 64,
  // and multiples of 8.
  virtual bool Offers(GpuCount gpus, std::string_view /*gpu_type*/) const {
    constexpr GpuCount kEveryCountUpTo = 8, kEveryFourthUpTo = 64;
    return gpus <= kEveryCountUpTo || gpus % (gpus <= kEveryFourthUpTo ? 4 : 8) == 0;
  }
  // Which numbers of nodes it tells apart on this type: a configuration each. By default none.
  virtual std::vector<Span> SpansOn(std::string_view /*gpu_type*/) const { return {Span{}}; }
  // Seconds that the job needs to write its training state from these GPUs, or to read it onto
  // them. A change of its allocation costs both beside the world's restart cost; 0: that includes
  // them.
  virtual Seconds StateSeconds(const RunShape& /*shape*/) const { return 0; }
  // How the job's program is to split its training over these GPUs, as it reads it in ALLOT_PLAN:
  // words "key=value" without commas (of transformers: plans/stated_plan.h). Like the rate it is
  // what the model answers, and nothing that a policy chooses. Nothing where the program splits
  // itself.
  virtual std::optional<std::string> PlanOn(const RunShape& /*shape*/) const {
    return std::nullopt;
  }
  // The GPU types that it was measured on; empty: the type makes no difference.
  virtual std::vector<std::string> gpu_types() const { return {}; }
  // The profiles beside which it was measured, on the same GPUs: a configuration each where it
  // progresses so.
  virtual std::vector<std::string> partners() const { return {}; }

  // With these units on one node, at the beginning of training.
  double Rate(const UnitCounts& units, std::string_view gpu_type) const {
    return Rate(RunShape{gpu_type, {&units, 1}, {}}, TrainingState{});
  }
};

using ModelPtr = std::shared_ptr<const ThroughputModel>;

// How a catalogue makes a model of its rows (docs/formats/catalogue.md).
struct ThroughputModelInfo {
  std::string id;  // in the column 'kind' of a catalogue
  std::string summary;
  // Columns beside 'profile' and 'kind' that its rows must have, and those that they may have.
  std::vector<std::string> columns;
  std::vector<std::string> optional_columns;
  // Of a profile's rows, at least one; DataError naming row and both values. Null: it has no rows.
  std::function<ModelPtr(const std::string& profile, std::span<const CatalogueRow> rows)> make;
};

// Rate 1 at every size: work is wall-clock seconds. What rigid trace jobs have.
ModelPtr MakeConstantModel();

// GPU-count profiles: rates measured at some counts per GPU type (units of the source), linear in
// between, 0 below the first of the type (nobody knows whether the job fits there; of several spans
// the least counts, and each is linear from 0), beyond the last by the power law through the last
// two with its exponent held within [0, 0.9]. The first type given is the reference, at whose rate
// the unnamed type runs, and "". Another type that was not measured has rate 0; but a profile that
// was measured on the unnamed type alone says nothing of types, and is the same on all. Where a
// type was measured at several spans, a placement has the rates of the first span that holds its
// number of nodes, and does not run on a number that none holds.
struct GpuScalingPoints {
  std::string gpu_type;
  std::vector<std::pair<GpuCount, double>> points;  // ascending counts, rates > 0
  Span span{};
};
ModelPtr MakeGpuScalingModel(std::string name, std::vector<GpuScalingPoints> types);

// Workers and parameter servers (DL2, Optimus): rates[servers][workers] for counts from 0; what is
// not in it cannot run.
ModelPtr MakeWorkerServerModel(std::string name, UnitKind worker, UnitKind server,
                               std::vector<std::vector<double>> rates);

}  // namespace allot
