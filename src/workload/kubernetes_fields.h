#pragma once
// Values as the Kubernetes API writes them. For the readers of kubectl's JSON.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/types.h"

namespace allot {

// "2026-11-22T12:38:49Z", with a fraction or a zone too -> seconds since 1970 in UTC; nullopt for
// anything else.
std::optional<Seconds> ParseKubernetesTime(std::string_view text);

// "4", "500m", "64Gi", "1e3", or a number -> its value; nullopt for anything else.
std::optional<double> ParseQuantity(const nlohmann::json& value);

// Whole GPUs of a map of resources (nvidia.com/gpu, amd.com/gpu, gpu.intel.com/...). nullopt where
// a count is none.
std::optional<std::int64_t> GpusOfResources(const nlohmann::json& resources);
bool HasPartsOfGpus(const nlohmann::json& resources);  // nvidia.com/mig-..., nvidia.com/gpu.shared

// The product of the GPUs by the labels that device plugins and clouds put on nodes, as a type's
// name in lower case; "" where there is none. NamesPartOfGpu (gpu_parts.h) holds for those of GPUs
// that are divided.
std::string GpuTypeOfLabels(const nlohmann::json& labels);

// Calls `each` with the objects of lists as kubectl prints them and with single objects, any number
// one after the other, and the line where each begins. `parse` gives it the kind that its list
// says; RowError where it is no JSON. DataError, with `advice`, for other text; `each` may throw.
void ForEachKubernetesObject(
    std::string_view text, const std::string& path, std::string_view advice,
    const std::function<void(int line, const std::function<nlohmann::json()>& parse)>& each);

// Whether the text begins as a list or an object of the API does; `word` must be in it.
bool LooksLikeKubernetes(std::string_view text, std::string_view word);

}  // namespace allot
