#include "workload/kubernetes_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/strings.h"
#include "workload/calendar.h"
#include "workload/job_rules.h"
#include "workload/json_records.h"
#include "workload/row_error.h"

namespace allot {
namespace {

using KubeJson = nlohmann::json;

// The place of the '[' behind the outermost "items", and of the ']' that closes it.
std::optional<std::pair<std::size_t, std::size_t>> FindItems(std::string_view text) {
  int depth = 0;
  std::size_t open = 0;
  std::string_view key;
  bool of_items = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t begin = at + 1;
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
      if (at >= text.size()) return std::nullopt;
      if (depth == 1) key = text.substr(begin, at - begin);
    } else if (c == '{' || c == '[') {
      if (depth == 1 && c == '[' && key == "items") {
        open = at;
        of_items = true;
      }
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
      if (depth == 1 && of_items) return std::pair{open, at};
    }
  }
  return std::nullopt;
}

// The same text, of the same lines, with nothing but the list in it.
std::string OnlyItems(std::string_view text, const std::pair<std::size_t, std::size_t>& items) {
  std::string only(text.substr(0, items.second + 1));
  for (std::size_t at = 0; at < items.first; ++at) {
    if (only[at] != '\n') only[at] = ' ';
  }
  return only;
}

}  // namespace

std::optional<Seconds> ParseKubernetesTime(std::string_view text) {
  constexpr std::size_t kLocalTime = 19;  // characters of "2026-11-22T12:38:49"
  if (text.size() <= kLocalTime || text[10] != 'T') return std::nullopt;
  std::string local(text.substr(0, kLocalTime));
  local[10] = ' ';
  const auto seconds = ParseCalendar(local);
  if (!seconds) return std::nullopt;
  std::string_view rest = text.substr(kLocalTime);
  double fraction = 0;
  if (rest.front() == '.') {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    const auto value = ParseNumber("0" + std::string(rest.substr(0, end)));
    if (!value) return std::nullopt;
    fraction = *value;
    rest.remove_prefix(end);
  }
  if (rest == "Z" || rest == "z") return static_cast<double>(*seconds) + fraction;
  const auto zoned = ParseZonedCalendar(local + std::string(rest));
  if (!zoned) return std::nullopt;
  return static_cast<double>(zoned->local - zoned->zone) + fraction;
}

std::optional<double> ParseQuantity(const KubeJson& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  static constexpr std::array<std::pair<std::string_view, double>, 14> kSuffixes = {
      {{"Ki", 1024.0},
       {"Mi", 1048576.0},
       {"Gi", 1073741824.0},
       {"Ti", 1099511627776.0},
       {"Pi", 1125899906842624.0},
       {"n", 1e-9},
       {"u", 1e-6},
       {"m", 1e-3},
       {"k", 1e3},
       {"M", 1e6},
       {"G", 1e9},
       {"T", 1e12},
       {"P", 1e15},
       {"", 1}}};
  const std::string text = value.get<std::string>();
  for (const auto& [suffix, factor] : kSuffixes) {
    if (!std::string_view(text).ends_with(suffix)) continue;
    const auto number = ParseNumber(std::string_view(text).substr(0, text.size() - suffix.size()));
    if (!number || *number < 0) return std::nullopt;
    return *number * factor;
  }
  return std::nullopt;
}

std::optional<std::int64_t> GpusOfResources(const KubeJson& resources) {
  std::int64_t gpus = 0;
  if (!resources.is_object()) return gpus;
  for (const auto& [key, value] : resources.items()) {
    if (key != "nvidia.com/gpu" && key != "nvidia.com/gpu.shared" && key != "amd.com/gpu" &&
        key != "gpu.intel.com/i915" && key != "gpu.intel.com/xe" && key != "habana.ai/gaudi") {
      continue;
    }
    const auto count = ParseQuantity(value);
    if (!count || *count != std::floor(*count) || *count > kMostGpus) return std::nullopt;
    gpus += static_cast<std::int64_t>(*count);
  }
  return gpus;
}

bool HasPartsOfGpus(const KubeJson& resources) {
  if (!resources.is_object()) return false;
  const auto items = resources.items();
  return std::any_of(items.begin(), items.end(),
                     [](const auto& item) { return item.key().starts_with("nvidia.com/mig-"); });
}

std::string GpuTypeOfLabels(const KubeJson& labels) {
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
    return name;
  }
  return "";
}

void ForEachKubernetesObject(
    std::string_view text, const std::string& path, std::string_view advice,
    const std::function<void(int line, const std::function<KubeJson()>& parse)>& each) {
  if (const auto items = FindItems(text)) {
    const std::string only = OnlyItems(text, *items);
    JsonRecords records(only, path);
    while (records.Next()) each(records.line(), [&] { return records.Parse(); });
    return;
  }
  KubeJson single = KubeJson::parse(text, nullptr, false);
  if (!single.is_object() || !single.contains("kind") || !single.contains("metadata")) {
    throw DataError(
        "a file of kubectl must hold a list with items, or one object, got {} ({}:1); "
        "{}",
        Quoted(text.substr(0, 40)), path, advice);
  }
  each(1, [&] { return single; });
}

bool LooksLikeKubernetes(std::string_view text, std::string_view word) {
  text = text.substr(0, 64 * std::size_t{1024});
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' &&
         text.find("\"apiVersion\"") != std::string_view::npos &&
         text.find(word) != std::string_view::npos;
}

}  // namespace allot
