#pragma once
// The pod of a worker, made from its Job's template, and the Secret with the job's token. Pure
// text, for the runtime and its tests.
//
// The pod goes through the cluster's own scheduler, with the node as its only choice: a binding
// beyond a node's capacity would be accepted by the API and fail at the kubelet.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/runtime.h"

namespace allot {

struct WorkerSpec {
  const WorkerRequest& request;
  std::string job;                       // the daemon's name of it
  std::string gpu;                       // resource
  std::string gpu_type;                  // of the node; "": no label says
  std::string daemon;                    // address of the hub, as pods reach it
  std::string secret;                    // that holds the token
  bool identity = false;                 // it is to show which pod it is (pod_identity.h)
  std::vector<std::string> tolerated{};  // keys of taints
  std::optional<Seconds> checkpoint_every{};
  // Of a job that is resized by a restart; team 0: of another one.
  std::size_t rank = 0;
  std::size_t team = 0;
  std::string first{};  // worker of rank 0
};

// "NAME-wN", from the number at the end of the worker's name.
std::string WorkerPodName(const ManagedJob& job, const std::string& worker);

nlohmann::json MakeWorkerPod(const ManagedJob& job, const WorkerSpec& spec);
nlohmann::json MakeTokenSecret(const ManagedJob& job, const std::string& name,
                               const std::string& token);

// What `kubectl describe job` shows of it; the API's words.
struct JobEvent {
  const char* type = "Warning";  // or "Normal"
  std::string reason;            // one word, "NotRunning"
  std::string message;           // for people
};
// The same text of the same Job has the same name. `time`: "2026-11-22T12:38:49Z".
nlohmann::json MakeJobEvent(const ManagedJob& job, const JobEvent& event, const std::string& time);

}  // namespace allot
