#include "clients/kubernetes/gpu_resources.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/strings.h"

namespace allot {
std::optional<double> ParseQuantity(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  static constexpr std::array<std::pair<std::string_view, double>, 16> kSuffixes = {
      {{"Ki", 1024.0},
       {"Mi", 1048576.0},
       {"Gi", 1073741824.0},
       {"Ti", 1099511627776.0},
       {"Pi", 1125899906842624.0},
       {"Ei", 1152921504606846976.0},
       {"n", 1e-9},
       {"u", 1e-6},
       {"m", 1e-3},
       {"k", 1e3},
       {"M", 1e6},
       {"G", 1e9},
       {"T", 1e12},
       {"P", 1e15},
       {"E", 1e18},
       {"", 1}}};
  std::string_view text = value.get_ref<const std::string&>();
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  for (const auto& [suffix, factor] : kSuffixes) {
    if (!text.ends_with(suffix)) continue;
    const auto number = ParseNumber(text.substr(0, text.size() - suffix.size()));
    if (!number || *number < 0) return std::nullopt;
    return *number * factor;
  }
  return std::nullopt;
}

const std::vector<std::string>& GpuResources() {
  static const std::vector<std::string> names = {
      "nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi"};
  return names;
}

std::optional<std::int64_t> GpusOfResources(const nlohmann::json& resources,
                                            std::span<const std::string> names) {
  constexpr double kMostCounted = 1e6;  // beyond it the object is surely broken
  std::int64_t gpus = 0;
  if (!resources.is_object()) return gpus;
  for (const auto& [key, value] : resources.items()) {
    if (std::find(names.begin(), names.end(), key) == names.end()) continue;
    const auto count = ParseQuantity(value);
    if (!count || *count != std::floor(*count) || *count > kMostCounted) return std::nullopt;
    gpus += static_cast<std::int64_t>(*count);
  }
  return gpus;
}

bool HasPartsOfGpus(const nlohmann::json& resources) {
  if (!resources.is_object()) return false;
  const auto items = resources.items();
  return std::any_of(items.begin(), items.end(), [](const auto& item) {
    const std::string& key = item.key();
    const bool part = key.starts_with("nvidia.com/mig-") || key.ends_with("gpu.shared");
    const auto count = part ? ParseQuantity(item.value()) : 0;
    return part && count.value_or(1) > 0;
  });
}

std::string GpuTypeOfLabels(const nlohmann::json& labels) {
  if (!labels.is_object()) return "";
  for (const char* key :
       {"nvidia.com/gpu.product", "amd.com/gpu.product-name", "cloud.google.com/gke-accelerator",
        "k8s.amazonaws.com/accelerator", "karpenter.k8s.aws/instance-gpu-name",
        "gpu.nvidia.com/model", "gpu.intel.com/product"}) {
    const auto found = labels.find(key);
    if (found == labels.end() || !found->is_string()) continue;
    std::string name = ToLower(found->get<std::string>());
    for (char& c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '-';
    }
    // GKE says beside the product that a GPU is divided; the names of others end with it.
    for (const char* divided :
         {"cloud.google.com/gke-gpu-partition-size", "cloud.google.com/gke-gpu-sharing-strategy"}) {
      if (labels.contains(divided)) return name + "-shared";
    }
    return name;
  }
  return "";
}

}  // namespace allot
