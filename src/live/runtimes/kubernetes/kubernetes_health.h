#pragma once
// What 'allot doctor' thinks of a Kubernetes cluster: whether the daemon may do what it has to
// (deploy/kubernetes/rights.yaml).

#include <functional>
#include <string>
#include <vector>

#include "clients/kubernetes/api/kube_reply.h"
#include "live/health/health_check.h"

namespace allot {

using AskKubernetes = std::function<KubeReply(const KubeRequest&)>;

// As the runtime's parameters have it.
struct KubeHealthPlace {
  std::string space{};            // namespace of the Jobs, "": all
  std::string lease{};            // NAMESPACE/NAME, "": there is none
  std::string identity = "auto";  // or "on", "off"
};
std::vector<HealthFinding> CheckKubernetes(const AskKubernetes& ask, const KubeHealthPlace& of);

}  // namespace allot
