#include "clients/kubernetes/pod.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "clients/kubernetes/fields.h"
#include "core/gpu_parts.h"

namespace allot {
namespace {

using Json = nlohmann::json;

// Calls `each` with the containers of this list.
template <typename Each>
void ForEachContainer(const Json& spec, const char* list, const Each& each) {
  if (!spec.is_object()) return;
  const auto found = spec.find(list);
  if (found == spec.end() || !found->is_array()) return;
  for (const Json& container : *found) each(container);
}

// Calls `each` with the limits and the requests of a container.
template <typename Each>
void ForEachResources(const Json& container, const Each& each) {
  for (const char* where : {"/resources/limits", "/resources/requests"}) {
    const Json* found = FindField(container, Json::json_pointer(where));
    if (found != nullptr) each(*found);
  }
}

}  // namespace

std::optional<std::int64_t> GpusOfContainer(const Json& container,
                                            std::span<const std::string> names) {
  std::optional<std::int64_t> most = 0;
  ForEachResources(container, [&](const Json& resources) {
    const auto gpus = GpusOfResources(resources, names);
    most = most && gpus ? std::optional(std::max(*most, *gpus)) : std::nullopt;
  });
  return most;
}

PodGpus ReadPodGpus(const Json& spec) {
  PodGpus read;
  const auto gpus_of = [&](const Json& container) {
    ForEachResources(container, [&](const Json& resources) {
      read.parts = read.parts || HasPartsOfGpus(resources);
    });
    const auto gpus = GpusOfContainer(container);
    if (!gpus && read.malformed.empty()) read.malformed = container.at("resources").dump();
    return gpus.value_or(0);
  };
  ForEachContainer(spec, "containers", [&](const Json& one) { read.gpus += gpus_of(one); });
  ForEachContainer(spec, "initContainers",
                   [&](const Json& one) { read.gpus = std::max(read.gpus, gpus_of(one)); });
  if (spec.is_object() && spec.contains("nodeSelector")) {
    read.type = GpuTypeOfLabels(spec.at("nodeSelector"));
  }
  if (read.gpus > 0 && NamesPartOfGpu(read.type)) {
    read.parts = true;
    read.gpus = 0;
  }
  return read;
}

}  // namespace allot
