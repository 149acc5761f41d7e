#pragma once
// One reader of the GPUs that a pod asks for. Trace readers ask for GPUs of all vendors, the
// Kubernetes runtime for those of the resource that it gives out. Pure.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "clients/kubernetes/gpu_resources.h"

namespace allot {

// Whole GPUs of one container: its limits or its requests, which the API wants to be the same.
// nullopt where a count is none.
std::optional<std::int64_t> GpusOfContainer(const nlohmann::json& container,
                                            std::span<const std::string> names = GpuResources());

struct PodGpus {
  std::int64_t gpus = 0;    // whole ones: of all containers, or an init container that has more
  bool parts = false;       // it asks for parts of GPUs, too, or for them alone
  std::string type{};       // by its node selector; "": any
  std::string malformed{};  // the container whose count of GPUs is none; "": all are some
};

// `spec`: of a pod or a pod template.
PodGpus ReadPodGpus(const nlohmann::json& spec);

}  // namespace allot
