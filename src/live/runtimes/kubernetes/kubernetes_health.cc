#include "live/runtimes/kubernetes/kubernetes_health.h"

#include "clients/kubernetes/api/kube_client.h"
#include "clients/kubernetes/api/kube_config.h"
#include "core/error.h"
#include "core/strings.h"
#include "live/runtimes/kubernetes/kubernetes_options.h"
#include "live/workers/listen.h"

namespace allot {
namespace {

struct KubeFacts : KubeHealthPlace {
  AskKubernetes ask;
};

// As in deploy/kubernetes/rights.yaml.
const std::vector<KubeRight>& DaemonRights() {
  static const std::vector<KubeRight> rights = {
      {"", "nodes", "", {"list", "watch"}},
      {"", "pods", "", {"get", "list", "watch", "create", "delete"}},
      {"", "secrets", "", {"create"}},
      {"", "events", "", {"create", "patch"}},
      {"batch", "jobs", "", {"get", "list", "watch", "patch"}},
      {"batch", "jobs", "status", {"patch"}},
      {"batch", "jobs", "finalizers", {"update"}}};
  return rights;
}

HealthFinding CheckServer(const KubeFacts& facts) {
  const KubeReply reply = facts.ask({"GET", "/version"});
  if (reply.code == 403) return FoundFine("API server, whose version is kept from us");
  if (!reply.ok()) {
    return FoundWrong("the API server does not answer: " + reply.Text(),
                      "does 'kubectl version' work with the same kubeconfig?");
  }
  return FoundFine("API server " + reply.body.value("gitVersion", "of an unknown version"));
}

HealthFinding CheckRights(const KubeFacts& facts) {
  std::string missing;
  for (const KubeRight& right : DaemonRights()) {
    const bool of_cluster = std::string_view(right.resource) == "nodes";
    for (const char* verb : right.verbs) {
      const std::string one = Forbidden(facts.ask, right, verb, of_cluster ? "" : facts.space);
      if (!one.empty()) missing += (missing.empty() ? "" : ", ") + one;
    }
  }
  if (missing.empty()) return FoundFine("all that the daemon needs");
  return FoundWrong("it may not: " + missing, "kubectl apply -f deploy/kubernetes/rights.yaml");
}

HealthFinding CheckIdentity(const KubeFacts& facts) {
  constexpr const char* kTokenAlone = "workers are known by the token of their job alone";
  if (facts.identity == "off") return FoundFine(fmt::format("{}: identity=off", kTokenAlone));
  const std::string missing =
      Forbidden(facts.ask, {"authentication.k8s.io", "tokenreviews", "", {}}, "create", "");
  if (missing.empty()) return FoundFine("workers show which pod they are");
  const std::string advice = "kubectl apply -f deploy/kubernetes/rights.yaml";
  if (facts.identity == "on") {
    return FoundWrong(fmt::format("it may not: {}, so no worker can join", missing), advice);
  }
  return FoundWarn(fmt::format("{}: it may not: {}", kTokenAlone, missing), advice);
}

HealthFinding CheckLease(const KubeFacts& facts) {
  if (facts.lease.empty()) return FoundFine("none: there is one daemon");
  const KubeRight right{"coordination.k8s.io", "leases", "", {}};
  std::string missing;
  for (const char* verb : {"get", "create", "patch"}) {
    const std::string one =
        Forbidden(facts.ask, right, verb, facts.lease.substr(0, facts.lease.find('/')));
    if (!one.empty()) missing += (missing.empty() ? "" : ", ") + one;
  }
  if (missing.empty()) return FoundFine("it may hold " + facts.lease);
  return FoundWrong(fmt::format("for {} it may not: {}", facts.lease, missing),
                    "the Role of deploy/kubernetes/rights.yaml, in that namespace");
}

HealthFinding CheckNodes(const KubeFacts& facts) {
  const std::string selector =
      facts.nodes.empty() ? "" : "?labelSelector=" + QueryText(facts.nodes);
  const KubeReply reply = facts.ask({"GET", "/api/v1/nodes" + selector});
  if (!reply.ok()) throw RunError("{}", reply.ToStatus("listing nodes").message());
  const std::string gpu = Join(facts.reading.gpus, ", ");
  GpuCount gpus = 0;
  std::vector<std::string> open, closed, bare;
  for (const nlohmann::json& item : reply.body.at("items")) {
    const KubeNode node = ReadKubeNode(item, facts.reading);
    gpus += node.gpus;
    if (node.gpus > 0) {
      (node.closed ? closed : open)
          .push_back(node.closed ? fmt::format("{} ({})", node.name, *node.closed) : node.name);
    } else if (!node.gpu_type.empty()) {
      bare.push_back(node.name);
    }
  }
  const std::string seen = fmt::format("{} {} on {} of {} nodes", gpus, gpu,
                                       open.size() + closed.size(), reply.body.at("items").size());
  const std::string plugin =
      "does the vendor's device plugin run there? 'kubectl describe node NAME' shows " + gpu +
      " under Allocatable once it does";
  if (gpus == 0) return FoundWrong(seen, plugin + "; parameters gpu= and nodes= choose others");
  if (open.empty()) {
    return FoundWrong(fmt::format("{}, none of which takes workers: {}", seen, Join(closed, ", ")),
                      "kubectl uncordon, or parameter tolerate= for the taints");
  }
  if (bare.empty()) return FoundFine(seen);
  return FoundWarn(fmt::format("{}; by their labels these have GPUs, too, and advertise none: {}",
                               seen, Join(bare, ", ")),
                   plugin);
}

HealthFinding CheckAddress(const KubeFacts& facts) {
  if (facts.address.starts_with("tcp:127.") || facts.address.starts_with("tcp:localhost:")) {
    return FoundWarn(
        fmt::format("pods are to reach the daemon at {}, which is their own loopback",
                    facts.address),
        "--runtime kubernetes:listen=tcp:0.0.0.0:7171,address=HOST:7171 with a HOST that pods "
        "reach, as in deploy/kubernetes/daemon.yaml");
  }
  if (Answers(facts.address)) return FoundFine("the daemon answers at " + facts.address);
  return FoundWarn(
      fmt::format("nobody answers at {}, where pods are to reach the daemon", facts.address),
      "does the daemon run, and does 'kubectl -n allot get endpointslices' show the Service's "
      "port? deploy/kubernetes/network.yaml says who may connect");
}

constexpr HealthCheck<KubeFacts> kKubeChecks[] = {
    {"kubernetes.server", CheckServer},     {"kubernetes.rights", CheckRights},
    {"kubernetes.identity", CheckIdentity}, {"kubernetes.lease", CheckLease},
    {"kubernetes.nodes", CheckNodes},       {"kubernetes.address", CheckAddress}};

std::vector<HealthFinding> RunKubernetesGroup(const HealthPlace& place, const Params& params) {
  try {
    const KubernetesOptions options = KubernetesOptionsFrom(params, {.state = place.state});
    KubeClient client(options.config, options.patience, {}, [] {});
    return CheckKubernetes(
        [&](const KubeRequest& request) { return client.Do(request); },
        {.space = options.space,
         .lease = options.lease,
         .identity = params.Text("identity"),
         .nodes = options.nodes,
         .reading = options.reading,
         .address = options.address.empty() ? options.listen : "tcp:" + options.address});
  } catch (const std::exception& error) {
    HealthFinding none = FoundWrong(error.what(), "--runtime kubernetes:kubeconfig=FILE");
    none.check = "kubernetes.server";
    return {none};
  }
}

ALLOT_REGISTER(HealthGroup, (HealthGroup{.id = "kubernetes",
                                         .summary = "the API server, and the daemon's rights",
                                         .order = 3,
                                         .runtime = "kubernetes",
                                         .run = RunKubernetesGroup}));

}  // namespace

std::string Forbidden(const AskKubernetes& ask, const KubeRight& right, const char* verb,
                      const std::string& space) {
  nlohmann::json attributes = {
      {"group", right.group}, {"resource", right.resource}, {"verb", verb}, {"namespace", space}};
  if (*right.part != '\0') attributes["subresource"] = right.part;
  const KubeReply reply = ask({"POST",
                               "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                               {{"apiVersion", "authorization.k8s.io/v1"},
                                {"kind", "SelfSubjectAccessReview"},
                                {"spec", {{"resourceAttributes", std::move(attributes)}}}}});
  if (!reply.ok()) throw RunError("{}", reply.ToStatus("asking for our rights").message());
  if (reply.body.contains("status") && reply.body["status"].value("allowed", false)) return "";
  return fmt::format("{} {}{}{}{}{}", verb, right.group, *right.group == '\0' ? "" : "/",
                     right.resource, *right.part == '\0' ? "" : "/", right.part);
}

std::vector<HealthFinding> CheckKubernetes(const AskKubernetes& ask, const KubeHealthPlace& of) {
  const KubeFacts facts{of, ask};
  // Without an answer the others would only repeat it.
  std::vector<HealthFinding> findings = RunChecks({kKubeChecks[0]}, facts);
  if (findings[0].health == Health::kWrong) return findings;
  return RunChecks(kKubeChecks, facts);
}

}  // namespace allot
