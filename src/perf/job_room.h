#pragma once
// How many GPUs of a type a job can hold, each with its part of the host memory and the CPUs that
// the job asks for. Used by TableCache and by what leaves out or clips jobs before (--oversized).

#include <span>
#include <string>

#include "perf/gpu_type_spec.h"
#include "perf/units.h"
#include "workload/job.h"

namespace allot {

// What each GPU of the job takes of its node beside itself. Memory counts where some node says how
// much it has, CPUs likewise. Parts of a CPU are left out: a job whose CPUs are no multiple of its
// GPUs must still fit the node that it ran on.
Resources HostDemandPerGpu(const Job& job, std::span<const GpuTypeSpec> types);

// The most GPUs of the type that can be held with so much beside each; all of them where the type
// does not say what its nodes have.
GpuCount RoomFor(const Resources& per_gpu, const GpuTypeSpec& type);

// "500 GB of host memory and 16 CPUs"; "" for neither.
std::string HostDemandInWords(const Resources& demand);

}  // namespace allot
