#include "clients/kubernetes/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "clients/kubernetes/fields.h"
#include "clients/kubernetes/kube_time.h"

namespace allot {
namespace {

using Json = nlohmann::json;
using namespace nlohmann::literals;

// That keeps workers off, "tainted KEY:EFFECT". Administrators set taints, and so do Kubernetes,
// for a disk that is full, and autoscalers. PreferNoSchedule keeps nobody off.
std::optional<std::string> FindTaint(const Json& node, const NodeReading& reading) {
  const Json* taints = FindField(node, "/spec/taints"_json_pointer);
  if (taints == nullptr) return std::nullopt;
  for (const Json& taint : *taints) {
    const std::string key = taint.value("key", "");
    const std::string effect = taint.value("effect", "");
    const auto& known = reading.tolerated;
    if (effect == "PreferNoSchedule" || std::find(known.begin(), known.end(), key) != known.end()) {
      continue;
    }
    return fmt::format("tainted {}:{}", key, effect);
  }
  return std::nullopt;
}

// By these the Cluster Autoscaler, Karpenter, AWS's Node Termination Handler and GKE say that a
// node is about to go, while it works still.
constexpr std::string_view kLeavingTaints[] = {
    "ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption",
    "aws-node-termination-handler/", "cloud.google.com/impending-node-termination"};

bool IsLeaving(const Json& node) {
  const Json* taints = FindField(node, "/spec/taints"_json_pointer);
  return taints != nullptr && std::ranges::any_of(*taints, [](const Json& taint) {
           const std::string key = taint.value("key", "");
           return std::ranges::any_of(
               kLeavingTaints, [&key](std::string_view one) { return key.starts_with(one); });
         });
}

std::optional<double> ReadTime(const Json& annotations, const char* key, KubeNode* read) {
  const auto found = annotations.find(key);
  if (found == annotations.end()) return std::nullopt;
  const auto time = found->is_string() ? ParseKubernetesTime(found->get<std::string>())
                                       : std::optional<Seconds>();
  if (!time && !read->fault) {
    read->fault = {fmt::format("{} must be a time, like 2026-11-28T18:00:00Z", key), found->dump()};
  }
  return time;
}

void ReadResources(const Json& node, const NodeReading& reading, KubeNode* read) {
  const Json* has = FindField(node, "/status/allocatable"_json_pointer);
  if (has == nullptr) has = FindField(node, "/status/capacity"_json_pointer);
  if (has == nullptr) return;
  const auto gpus = GpusOfResources(*has, reading.gpus);
  if (!gpus) read->fault = {"GPUs must be a whole number >= 0", has->dump()};
  read->gpus = static_cast<GpuCount>(gpus.value_or(0));
  read->parts = HasPartsOfGpus(*has);
  const auto amount = [&](const char* what, double most) {
    const auto found = has->find(what);
    if (found == has->end() || found->is_null()) return 0.0;
    const auto number = ParseQuantity(*found);
    if (!read->fault && (!number || *number > most)) {
      read->fault = {fmt::format("{} must be a quantity, like 64 or 256Gi", what), found->dump()};
    }
    return std::min(number.value_or(0), most);
  };
  constexpr double kMost = 1e18;
  constexpr double kMostCpus = 1 << 20U;
  read->cpus = static_cast<std::int32_t>(std::min(amount("cpu", kMost), kMostCpus));
  read->memory_mib = static_cast<std::int64_t>(amount("memory", kMost) / (1024.0 * 1024.0));
}

bool IsReady(const Json& node) {
  const Json* conditions = FindField(node, "/status/conditions"_json_pointer);
  if (conditions == nullptr) return true;
  for (const Json& one : *conditions) {
    if (one.value("type", "") == "Ready") return one.value("status", "") == "True";
  }
  return true;
}

}  // namespace

KubeNode ReadKubeNode(const Json& node, const NodeReading& reading) {
  KubeNode read;
  read.name = node.at("metadata").at("name").get<std::string>();
  ReadResources(node, reading, &read);
  if (const Json* labels = FindField(node, "/metadata/labels"_json_pointer)) {
    read.gpu_type =
        reading.type_label ? labels->value(*reading.type_label, "") : GpuTypeOfLabels(*labels);
  }
  if (const Json* annotations = FindField(node, "/metadata/annotations"_json_pointer)) {
    read.recall_at = ReadTime(*annotations, kRecallAt, &read);
    read.recall_until = ReadTime(*annotations, kRecallUntil, &read);
  }
  read.leaving = IsLeaving(node);
  read.ready = IsReady(node);
  const Json* cordoned = FindField(node, "/spec/unschedulable"_json_pointer);
  read.cordoned = cordoned != nullptr && cordoned->get<bool>();
  if (!read.ready) {
    read.closed = "not ready";
  } else if (read.cordoned) {
    read.closed = "unschedulable (cordoned)";
  } else {
    read.closed = FindTaint(node, reading);
  }
  return read;
}

}  // namespace allot
