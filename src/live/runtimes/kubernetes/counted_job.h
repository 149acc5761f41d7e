#pragma once
// A Job whose controller is Kubernetes' own and whose user wants allot to set its size
// (allot.dev/resize: parallelism): elastic Indexed Jobs, torchrun's, Kueue's. allot writes
// spec.parallelism, and beside it in one patch which workers these are; whoever changes one without
// the other is another writer, and allot leaves the Job to them. Pure.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/runtime.h"

namespace allot {

// Limits, type and mode, from annotations and template. `types`: of the cluster's GPUs. DataError
// naming the rule.
void ReadCountedRequest(const ManagedJob& job, const std::string& gpu,
                        const std::vector<std::string>& types, RuntimeJob* request);

// Workers of the Job as it is: those that were written down, else as many as it has. DataError
// where what was written down cannot be read.
std::vector<std::int64_t> WorkersOf(const ManagedJob& job);

// How many pods its controller runs at most, whatever its parallelism: it replaces none that has
// succeeded where completions say how many are wanted, or where they say nothing. Of its pods so
// many have `succeeded`, and so many `live`. nullopt: no such limit.
std::optional<GpuCount> MostPods(const ManagedJob& job, GpuCount succeeded, GpuCount live);

// Why allot may not set its size now, for people; "": it may.
std::string ResizedByAnother(const ManagedJob& job);
std::string SuspendedByAnother(const ManagedJob& job);

// The merge patch that gives the Job these workers and is refused where the Job is no longer of
// `version`. None: it is suspended.
nlohmann::json SizePatch(const ManagedJob& job, std::uint64_t version,
                         const std::vector<std::int64_t>& workers);

}  // namespace allot
