#pragma once
// One reader of a Node of the API. The Kubernetes runtime asks it for the nodes that its workers
// may use, `allot whatif` and other readers of `kubectl get nodes -o json` for the nodes that the
// cluster has: a node that is not ready, cordoned or tainted is closed for both. A taint closes a
// node unless GPU jobs tolerate it. Annotations and some taints say that a node is called back.
// Pure.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "clients/kubernetes/gpu_resources.h"
#include "core/types.h"

namespace allot {

// How nodes say what they have, and what keeps nobody off.
struct NodeReading {
  std::vector<std::string> gpus = GpuResources();  // resources
  std::optional<std::string> type_label{};         // nullopt: those of device plugins and clouds
  // Keys of taints that workers tolerate. Jobs that ask for GPUs tolerate taints that are named for
  // these (ExtendedResourceToleration; GKE taints its GPU nodes with nvidia.com/gpu).
  std::vector<std::string> tolerated = GpuResources();
};

// RFC 3339, as "2026-11-28T18:00:00Z".
inline constexpr const char* kRecallAt = "allot.dev/recall-at";
inline constexpr const char* kRecallUntil = "allot.dev/recall-until";

struct KubeNode {
  std::string name;
  std::string gpu_type;         // "": no label says
  GpuCount gpus = 0;            // whole ones: allocatable, or where that is missing, capacity
  std::int32_t cpus = 0;        // likewise
  std::int64_t memory_mib = 0;  // likewise
  bool parts = false;           // it has parts of GPUs (core/gpu_parts.h), too
  bool ready = true;            // unless its condition Ready says otherwise
  bool cordoned = false;        // an administrator keeps work off it
  // Something is about to take it away, by its taint: an autoscaler, or the cloud. It works still.
  bool leaving = false;
  // When it is called back, and until when, by its annotations kRecallAt and kRecallUntil.
  std::optional<double> recall_at{};
  std::optional<double> recall_until{};
  // Why nothing is to start there: "not ready", "unschedulable (cordoned)", "tainted KEY:EFFECT".
  std::optional<std::string> closed{};
  // The first amount that is no quantity, or time that is none, as a rule and what stands there. It
  // counts as 0, or as not said.
  struct Fault {
    std::string rule, got;
    friend bool operator==(const Fault&, const Fault&) = default;
  };
  std::optional<Fault> fault{};

  friend bool operator==(const KubeNode&, const KubeNode&) = default;
};

// Throws nlohmann::json::exception where it is no Node: it has no name, or a list is none.
KubeNode ReadKubeNode(const nlohmann::json& node, const NodeReading& reading);

}  // namespace allot
