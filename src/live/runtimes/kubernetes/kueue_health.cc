#include "live/runtimes/kubernetes/kueue_health.h"

#include "clients/kubernetes/api/kube_client.h"
#include "clients/kubernetes/fields.h"
#include "core/error.h"
#include "live/runtimes/kubernetes/kubernetes_options.h"

namespace allot {
namespace {

constexpr const char* kKueueGroup = "kueue.x-k8s.io";

// "list kueue.x-k8s.io/localqueues"; "": it may all.
std::string LacksForReading(const AskKubernetes& ask) {
  for (const char* resource : {"clusterqueues", "localqueues", "workloads"}) {
    std::string lacks = Forbidden(ask, {kKueueGroup, resource, "", {}}, "list", "");
    if (!lacks.empty()) return lacks;
  }
  return "";
}

HealthFinding CheckKueueVersion(const AskKubernetes& ask) {
  return FoundFine(KueueVersion(ask) +
                   "; whether Kueue's feature gate PriorityBoost is on cannot be seen");
}

HealthFinding CheckKueueRights(const AskKubernetes& ask) {
  const std::string lacks = LacksForReading(ask);
  if (!lacks.empty()) return FoundWrong("it may not: " + lacks, kKueueRights);
  const Status may = MayBoost(ask);
  if (may.ok()) return FoundFine("it may list queues and annotate Workloads");
  return FoundWarn("dry runs only: " + may.message(), kKueueRights);
}

constexpr HealthCheck<AskKubernetes> kKueueChecks[] = {{"kueue.version", CheckKueueVersion},
                                                       {"kueue.rights", CheckKueueRights}};

std::vector<HealthFinding> RunKueueGroup(const HealthPlace&, const Params& params) {
  try {
    KubeClient client(FindKubeConfig(params.Text("kubeconfig"), params.Text("context")),
                      params.Number("timeout"), {}, [] {});
    return CheckKueue([&](const KubeRequest& request) { return client.Do(request); });
  } catch (const std::exception& error) {
    return SkipChecks(kKueueChecks, error.what());
  }
}

ALLOT_REGISTER(HealthGroup, (HealthGroup{.id = "kueue",
                                         .summary = "'allot advise' on this Kueue",
                                         .order = 5,
                                         .runtime = "kubernetes",
                                         .only_if_named = true,
                                         .run = RunKueueGroup}));

}  // namespace

std::string KueueVersion(const AskKubernetes& ask) {
  const std::string path = fmt::format("/apis/{}", kKueueGroup);
  const KubeReply reply = ask({"GET", path});
  if (reply.code == 404) {
    throw RunError("Kueue is not installed: the API server has no group {}", kKueueGroup);
  }
  if (!reply.ok()) throw RunError("{}", reply.ToStatus("asking for Kueue's version").message());
  const nlohmann::json* const version =
      FindField(reply.body, nlohmann::json::json_pointer("/preferredVersion/version"));
  if (version == nullptr || !version->is_string()) {
    throw RunError("asking for Kueue's version: the answer names none");
  }
  return fmt::format("{}/{}", path, version->get<std::string>());
}

Status MayBoost(const AskKubernetes& ask) {
  const std::string lacks = Forbidden(ask, {kKueueGroup, "workloads", "", {}}, "patch", "");
  if (lacks.empty()) return Status::Ok();
  return Status::Refused("it may not: {}; {}", lacks, kKueueRights);
}

std::vector<HealthFinding> CheckKueue(const AskKubernetes& ask) {
  return RunChecks(kKueueChecks, ask);
}

}  // namespace allot
