#pragma once
// What 'allot doctor' thinks of a Kubernetes cluster for 'allot advise' (docs/monday-kueue.md).

#include <string>
#include <vector>

#include "live/runtimes/kubernetes/kubernetes_health.h"

namespace allot {

inline constexpr const char* kKueueRights = "kubectl apply -f deploy/kueue-advice.yaml";

// The path of Kueue's preferred version, "/apis/kueue.x-k8s.io/v1beta2". RunError where Kueue is
// not installed, or without an answer.
std::string KueueVersion(const AskKubernetes& ask);

// Whether this user may change the priority boost of all Workloads; refused with the cure.
Status MayBoost(const AskKubernetes& ask);

std::vector<HealthFinding> CheckKueue(const AskKubernetes& ask);

}  // namespace allot
