#include "live/runtimes/kubernetes/kubernetes_options.h"

#include <string_view>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

std::vector<std::string> TolerationsOf(const std::string& text) {
  std::vector<std::string> keys;
  for (const std::string_view key : Split(text, '|')) {
    if (!key.empty()) keys.emplace_back(key);
  }
  return keys;
}

WorkerIdentity IdentityOf(const std::string& text) {
  if (text == "auto") return WorkerIdentity::kAuto;
  if (text == "on") return WorkerIdentity::kOn;
  if (text == "off") return WorkerIdentity::kOff;
  throw UsageError("kubernetes: 'identity' must be auto, on or off, got '{}'", text);
}

}  // namespace

KubernetesOptions KubernetesOptionsFrom(const Params& params, const RuntimeOptions& options) {
  KubernetesOptions o;
  o.config = FindKubeConfig(params.Text("kubeconfig"), params.Text("context"));
  o.space = params.Text("namespace");
  o.nodes = params.Text("nodes");
  o.gpu = params.Text("gpu");
  o.reading.gpus = {o.gpu};
  if (const std::string& label = params.Text("type-label"); !label.empty()) {
    o.reading.type_label = label;
  }
  o.reading.tolerated = TolerationsOf(params.Text("tolerate"));
  o.listen = options.dry_run ? "tcp:127.0.0.1:0" : params.Text("listen");
  o.address = params.Text("address");
  o.patience = params.Number("timeout");
  o.state = options.state / "kubernetes";
  o.key = params.Text("key");
  o.identity = IdentityOf(params.Text("identity"));
  o.lease = params.Text("lease");
  o.dry_run = options.dry_run;
  o.on_wait = options.on_wait;
  if (options.standby && o.lease.empty()) {
    throw UsageError(
        "kubernetes: --standby needs the Lease that it waits for: lease=NAMESPACE/NAME");
  }
  if (o.address.empty() && o.listen.starts_with("tcp:0.0.0.0:")) {
    throw UsageError(
        "kubernetes: 'address' must say how pods reach this daemon (HOST:PORT, the Service of "
        "deploy/kubernetes), as it listens on all addresses, {}",
        o.listen);
  }
  return o;
}

std::vector<ParamSpec> KubernetesParams() {
  return {{"kubeconfig", "",
           "file (default: $KUBECONFIG, in a pod its service account, ~/.kube/config)"},
          {"context", "", "of that file (default: its current one)"},
          {"namespace", "", "whose Jobs are run (default: all)"},
          {"nodes", "", "label selector of the nodes that are allot's (default: all with GPUs)"},
          {"gpu", "nvidia.com/gpu", "resource of GPUs"},
          {"type-label", "", "label of nodes (default: those of device plugins and clouds)"},
          {"tolerate", "nvidia.com/gpu", "keys of taints that workers tolerate, joined by |"},
          {"listen", "tcp:127.0.0.1:0", "for workers; in a pod tcp:0.0.0.0:7171"},
          {"address", "", "HOST:PORT by which pods reach that (default: what it listens on)"},
          {"key", "", "file that workers' tokens are made from (default: made in --state)"},
          {"identity", "auto",
           "workers show which pod they are: on, off, or where allot may create tokenreviews"},
          {"lease", "", "NAMESPACE/NAME held by one of several daemons (default: there is one)"},
          {"timeout", "5", "seconds for a request to the API server", 0.1, 8}};
}

}  // namespace allot
