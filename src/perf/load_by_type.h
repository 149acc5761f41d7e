#pragma once
// How much GPU time the jobs of a workload ask of each GPU type of a cluster: a cluster can be half
// empty while the queue of one type grows. For tables, hints, sweeps and what-if.

#include <string>
#include <vector>

#include "core/types.h"
#include "perf/gpu_type_spec.h"
#include "workload/workload.h"

namespace allot {

struct TypeLoad {
  std::string type;
  GpuCount gpus = 0;
  // GPU time of the jobs that need the type (requested GPUs x run time, to the end of each job) per
  // GPU time that it has between the first and the last submission. Above 1 its queue grows.
  double demand = 0;

  bool operator==(const TypeLoad&) const = default;
};

// By type of the cluster. Jobs that accept several types are spread over them so that the demands
// are as even as can be; those that accept none count nowhere. Empty where the cluster has one type
// or all jobs are submitted at once.
std::vector<TypeLoad> LoadByType(const Workload& workload, const std::vector<GpuTypeSpec>& types);

// The type of the highest demand where that is above the others' by more than a hundredth; null:
// the types are equally loaded, or there are no loads.
const TypeLoad* MostLoaded(const std::vector<TypeLoad>& loads);

// "a10 1.51, a100 0.00"; "" of none.
std::string LoadsInWords(const std::vector<TypeLoad>& loads);

}  // namespace allot
