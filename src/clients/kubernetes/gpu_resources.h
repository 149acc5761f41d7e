#pragma once
// GPUs in resources and labels of the Kubernetes API. For the readers of nodes and pods here.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace allot {

// "4", "+4", "500m", "64Gi", "1e3", or a number -> its value; nullopt for anything else.
std::optional<double> ParseQuantity(const nlohmann::json& value);

// Resources that are whole GPUs, of all vendors: "nvidia.com/gpu", ...
const std::vector<std::string>& GpuResources();

// Whole GPUs of a map of resources, of those `names`. nullopt where a count is none.
std::optional<std::int64_t> GpusOfResources(const nlohmann::json& resources,
                                            std::span<const std::string> names = GpuResources());
bool HasPartsOfGpus(const nlohmann::json& resources);  // nvidia.com/mig-..., nvidia.com/gpu.shared

// The product of the GPUs by the labels that device plugins and clouds put on nodes, as a type's
// name in lower case; "" where there is none. NamesPartOfGpu (core/gpu_parts.h) holds for those of
// GPUs that are divided.
std::string GpuTypeOfLabels(const nlohmann::json& labels);

}  // namespace allot
