#pragma once
// The process of a job whose throughput model varies(): at every moment the model's rate of the
// placement that the job has, at the state of its training.

#include <memory>
#include <vector>

#include "perf/gpu_type_spec.h"
#include "perf/throughput_model.h"
#include "sim/job_process.h"

namespace allot {

// `types`: of the cluster, in its index order. Where no placement is known (a table's entry), the
// rate is that of the units on as few nodes as the span allows, as in tables.
ProcessPtr MakeModelProcess(ModelPtr model, std::shared_ptr<const std::vector<GpuTypeSpec>> types);

}  // namespace allot
