#pragma once
// The parameters of the Kubernetes runtime (`--runtime kubernetes:KEY=VALUE,...`), and the settings
// that follow from them. Reads the kubeconfig; sends no request.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "clients/kubernetes/api/kube_config.h"
#include "clients/kubernetes/node.h"
#include "live/runtimes/runtime.h"

namespace allot {

// Whether workers are to show which pod they are when they join (pod_identity.h).
enum class WorkerIdentity { kAuto, kOn, kOff };  // kAuto: where the daemon may create TokenReviews

struct KubernetesOptions {
  KubeConfig config;
  std::string space;                   // namespace of the Jobs; "": all
  std::string nodes;                   // label selector; "": all
  std::string gpu = "nvidia.com/gpu";  // resource
  NodeReading reading{.gpus = {"nvidia.com/gpu"}, .tolerated = {}};
  std::string listen = "tcp:127.0.0.1:0";  // for workers
  std::string address;                     // the same as pods reach it, "host:port"; "": `listen`
  Seconds patience = 5;                    // for a request
  std::filesystem::path state;             // folder of our own files
  std::filesystem::path key;  // of workers' tokens (live/workers/worker_key.h); "": made in `state`
  WorkerIdentity identity = WorkerIdentity::kAuto;
  std::string lease;  // NAMESPACE/NAME, which one of several daemons holds; "": there is one
  bool dry_run = false;
  std::function<void(const std::string& why)> on_wait{};  // RuntimeOptions
};

std::vector<ParamSpec> KubernetesParams();
// UsageError naming the parameter, DataError where the kubeconfig cannot be used.
KubernetesOptions KubernetesOptionsFrom(const Params& params, const RuntimeOptions& options);

}  // namespace allot
