#include "workload/kubernetes_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/strings.h"
#include "core/user_json.h"
#include "workload/calendar.h"
#include "workload/job_rules.h"
#include "workload/json_records.h"
#include "workload/row_error.h"

namespace allot {
namespace {

using KubeJson = nlohmann::json;

// One of the documents that follow one another in a file.
struct KubeDocument {
  std::size_t end = 0;  // in the text
  std::string_view kind;
  bool has_metadata = false;
  std::optional<std::pair<std::size_t, std::size_t>> items;  // the brackets of the list
};

// The document that begins with the '{' at `begin`; nullopt where the text ends inside of it.
std::optional<KubeDocument> ScanDocument(std::string_view text, std::size_t begin) {
  const auto object = ScanJsonObject(text, begin);
  if (!object) return std::nullopt;
  KubeDocument document;
  document.end = object->end;
  for (const auto& [key, value] : object->members) {
    if (key == "metadata") document.has_metadata = true;
    if (key == "kind" && value.size() > 1 && value.front() == '"') {
      document.kind = value.substr(1, value.size() - 2);
    }
    if (key == "items" && value.starts_with('[')) {
      const auto open = static_cast<std::size_t>(value.data() - text.data());
      document.items = {open, open + value.size() - 1};
    }
  }
  return document;
}

// The kind of the items of a list, which the API leaves out in a JobList: "Job"; "" where it does
// not say.
std::string_view KindOfItems(std::string_view kind) {
  constexpr std::string_view kListOf = "List";
  return kind.ends_with(kListOf) ? kind.substr(0, kind.size() - kListOf.size()) : "";
}

int NewLines(std::string_view text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
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
  static constexpr std::array<std::string_view, 5> kWholeGpus = {
      "nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi"};
  std::int64_t gpus = 0;
  if (!resources.is_object()) return gpus;
  for (const auto& [key, value] : resources.items()) {
    if (std::find(kWholeGpus.begin(), kWholeGpus.end(), key) == kWholeGpus.end()) continue;
    const auto count = ParseQuantity(value);
    if (!count || *count != std::floor(*count) || *count > kMostGpus) return std::nullopt;
    gpus += static_cast<std::int64_t>(*count);
  }
  return gpus;
}

bool HasPartsOfGpus(const KubeJson& resources) {
  if (!resources.is_object()) return false;
  const auto items = resources.items();
  return std::any_of(items.begin(), items.end(), [](const auto& item) {
    const std::string& key = item.key();
    const bool part = key.starts_with("nvidia.com/mig-") || key.ends_with("gpu.shared");
    const auto count = part ? ParseQuantity(item.value()) : 0;
    return part && count.value_or(1) > 0;
  });
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
    // GKE says beside the product that a GPU is divided; the names of others end with it.
    for (const char* divided :
         {"cloud.google.com/gke-gpu-partition-size", "cloud.google.com/gke-gpu-sharing-strategy"}) {
      if (labels.contains(divided)) return name + "-shared";
    }
    return name;
  }
  return "";
}

void ForEachKubernetesObject(
    std::string_view text, const std::string& path, std::string_view advice,
    const std::function<void(int line, const std::function<KubeJson()>& parse)>& each) {
  constexpr std::string_view kBlank = " \t\r\n";
  int line = 1;
  std::size_t at = 0;
  const auto skip_to = [&](std::size_t next) {
    line += NewLines(text.substr(at, next - at));
    at = next;
  };
  do {
    skip_to(std::min(text.find_first_not_of(kBlank, at), text.size()));
    const auto document =
        text.substr(at, 1) == "{" ? ScanDocument(text, at) : std::optional<KubeDocument>();
    if (!document || (!document->items && (document->kind.empty() || !document->has_metadata))) {
      throw DataError(
          "a file of kubectl must hold a list with items, or objects, one after the other, got {} "
          "({}:{}); {}",
          at < text.size() ? Quoted(text.substr(at, 40)) : "the end of the file", path, line,
          advice);
    }
    if (document->items) {
      const auto [open, close] = *document->items;
      JsonRecords records(text.substr(0, close + 1), path, open,
                          line + NewLines(text.substr(at, open - at)));
      const std::string_view kind = KindOfItems(document->kind);
      while (records.Next()) {
        each(records.line(), [&] {
          KubeJson object = records.Parse();
          if (!kind.empty() && object.is_object()) object.emplace("kind", kind);
          return object;
        });
      }
    } else {
      const std::string_view single = text.substr(at, document->end - at);
      each(line, [&] {
        JsonFault fault;
        KubeJson object = ParseUserJson(single, &fault);
        if (!object.is_discarded()) return object;
        throw RowError("an object " + fault.rule, Quoted(single.substr(fault.byte, 20)),
                       fmt::format("{}:{}", path, line + NewLines(single.substr(0, fault.byte))));
      });
    }
    skip_to(document->end);
  } while (text.find_first_not_of(kBlank, at) != std::string_view::npos);
}

bool LooksLikeKubernetes(std::string_view text, std::string_view word) {
  text = text.substr(0, 64 * std::size_t{1024});
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' &&
         text.find("\"apiVersion\"") != std::string_view::npos &&
         text.find(word) != std::string_view::npos;
}

}  // namespace allot
