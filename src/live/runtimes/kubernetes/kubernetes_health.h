#pragma once
// What 'allot doctor' thinks of a Kubernetes cluster: whether the daemon may do what it has to
// (deploy/kubernetes/rights.yaml), whether nodes advertise GPUs, and whether pods can reach the
// daemon.

#include <functional>
#include <string>
#include <vector>

#include "clients/kubernetes/api/kube_reply.h"
#include "clients/kubernetes/node.h"
#include "live/health/health_check.h"

namespace allot {

using AskKubernetes = std::function<KubeReply(const KubeRequest&)>;

struct KubeRight {
  const char* group;
  const char* resource;
  const char* part;  // a subresource, or ""
  std::vector<const char*> verbs;
};
// "patch batch/jobs/status" where the user of `ask` may not in that namespace ("": in all); "": it
// may. RunError without an answer.
std::string Forbidden(const AskKubernetes& ask, const KubeRight& right, const char* verb,
                      const std::string& space);

// As the runtime's parameters have it.
struct KubeHealthPlace {
  std::string space{};            // namespace of the Jobs, "": all
  std::string lease{};            // NAMESPACE/NAME, "": there is none
  std::string identity = "auto";  // or "on", "off"
  std::string nodes{};            // label selector, "": all
  NodeReading reading{};
  std::string address = "tcp:127.0.0.1:0";  // of the daemon, as pods reach it
};
std::vector<HealthFinding> CheckKubernetes(const AskKubernetes& ask, const KubeHealthPlace& of);

}  // namespace allot
