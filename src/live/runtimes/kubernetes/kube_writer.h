#pragma once
// Writes of the Kubernetes runtime to the API server, none of which is sent while another daemon
// holds the lease; and the paths of the objects that it reads and writes.

#include <string>
#include <vector>

#include "clients/kubernetes/api/kube_client.h"
#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/kubernetes/lease_keeper.h"

namespace allot {

inline constexpr const char* kFieldManager = "?fieldManager=allot";
inline constexpr int kKillGrace = 1;  // seconds. 0 would free GPUs while processes still end

// `group`: "api/v1"; of all namespaces where `space` is "".
std::string CollectionPath(const std::string& space, const char* group, const char* kind);
std::string JobPath(const ManagedJob& job);
// Of this pod only, not of a later one with its name. `grace` in seconds; < 0: the pod's own.
KubeRequest DeletionOf(const WorkerPod& pod, int grace);

class KubeWriter {
 public:
  // `lease` may be null: there is none; `name` is its. `client` and `lease` outlive this.
  KubeWriter(KubeClient& client, const LeaseKeeper* lease, std::string name);

  // All at the same time; the answers in the order of the requests.
  std::vector<KubeReply> Write(std::vector<KubeRequest> requests);
  KubeReply Write(KubeRequest request);

 private:
  KubeClient& client_;
  const LeaseKeeper* const lease_;
  const std::string name_;
};

}  // namespace allot
