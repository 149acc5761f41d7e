#pragma once
// What 'allot doctor' thinks of a Kubernetes cluster: whether the daemon may do what it has to
// (deploy/kubernetes/rights.yaml).

#include <functional>
#include <string>
#include <vector>

#include "live/health_check.h"
#include "live/kubernetes/kube_reply.h"

namespace allot {

using AskKubernetes = std::function<KubeReply(const KubeRequest&)>;

// `space`: namespace of the Jobs, "": all; `lease`: NAMESPACE/NAME, "": there is none.
std::vector<HealthFinding> LookAtKubernetes(const AskKubernetes& ask, const std::string& space,
                                            const std::string& lease);

}  // namespace allot
