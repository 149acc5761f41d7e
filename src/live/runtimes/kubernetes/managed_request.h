#pragma once
// What a Job asks for, from its annotations and its template. The Kubernetes runtime reads it at
// every snapshot.

#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/runtime.h"

namespace allot {

// The daemon's name of the Job: "NAMESPACE.NAME.BEGINNING-OF-UID".
std::string NameOfManagedJob(const ManagedJob& job);

// Sets sizes, types, mode, model, work and priority of `request`; throws DataError, for the user to
// read, where the Job asks for what cannot be given. `gpu`: the resource of GPUs.
void ReadManagedRequest(const ManagedJob& job, const std::string& gpu, RuntimeJob* request);

// What all Jobs may say of these, with any mode; the GPUs that the template asks for.
double ReadJobRequest(const ManagedJob& job, const std::string& gpu, RuntimeJob* request);

// The place of the one container of a pod that asks for GPUs; DataError unless there is exactly
// one.
std::size_t GpuContainer(const nlohmann::json& pod, const std::string& gpu);

}  // namespace allot
