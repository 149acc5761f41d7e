#pragma once
// The nodes of a Kubernetes cluster, as the daemon is shown them: one that is gone stays, as down.
// Used by KubernetesRuntime. Not thread-safe.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "clients/kubernetes/api/object_store.h"
#include "clients/kubernetes/node.h"
#include "core/natural_order.h"
#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/runtime.h"

namespace allot {

class ShownNodes {
 public:
  // The cluster's nodes are now these. Logs why a node with GPUs takes no workers, when that
  // changes. O(nodes log nodes).
  void Read(const ObjectStore<KubeNode>& nodes);

  const std::vector<RuntimeNode>& all() const { return shown_; }  // in the order of their coming
  std::vector<std::string> GpuTypes() const;                      // each once
  const KubeNode* Find(const std::string& name) const;  // null: the cluster has none of that name
  // The kubelet of the pod's node is gone or silent: the pod would stay "terminating" for as long.
  bool HaveLost(const WorkerPod& pod) const;

 private:
  std::vector<RuntimeNode> shown_;
  std::set<std::string> names_;                            // of these
  std::map<std::string, KubeNode, NaturalOrder> by_name_;  // that exist now
};

}  // namespace allot
