#pragma once
// Throughput models: how fast a job runs under an allocation. One file per model in this folder.
//
// A profile is a named ThroughputModel ("resnet50:64"); perf/catalogue.h holds the profiles that a
// workload may name, perf/table_cache.h turns them into configuration tables.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/types.h"
#include "perf/configuration.h"

namespace allot {

// The GPU type of a cluster that names none: of profiles the reference type, whatever it is called.
inline constexpr std::string_view kUnnamedGpuType = "gpu";

class ThroughputModel {
 public:
  virtual ~ThroughputModel() = default;
  virtual const std::string& name() const = 0;
  virtual const std::vector<UnitKind>& kinds() const = 0;
  // Work per second with these units on this GPU type; <= 0 where it does not progress, as
  // measured. Pure, thread-safe.
  virtual double Rate(const UnitCounts& units, std::string_view gpu_type) const = 0;
};

using ModelPtr = std::shared_ptr<const ThroughputModel>;

// Rate 1 at every size: work is wall-clock seconds. What rigid trace jobs have.
ModelPtr MakeConstantModel();

// GPU-count profiles: rates measured at some counts per GPU type (units of the source), linear in
// between and from 0 to the first, beyond the last by the power law through the last two with its
// exponent held within [0, 0.9]. The first type given is the reference, at whose rate the unnamed
// type runs, and "". Another type that was not measured has rate 0; but a profile that was measured
// on the unnamed type alone says nothing of types, and is the same on all.
struct GpuScalingPoints {
  std::string gpu_type;
  std::vector<std::pair<GpuCount, double>> points;  // ascending counts, rates > 0
};
ModelPtr MakeGpuScalingModel(std::string name, std::vector<GpuScalingPoints> types);

// Workers and parameter servers (DL2, Optimus): rates[servers][workers] for counts from 0; what is
// not in it cannot run.
ModelPtr MakeWorkerServerModel(std::string name, UnitKind worker, UnitKind server,
                               std::vector<std::vector<double>> rates);

}  // namespace allot
