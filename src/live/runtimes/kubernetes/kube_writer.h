#pragma once
// Writes of the Kubernetes runtime to the API server, none of which is sent while another daemon
// holds the lease; and the paths of the objects that it reads and writes.
//
// The runtime asks for what is missing at every poll. So a write that the server refuses (a rule of
// the API, a right, an admission webhook, too many requests) is followed by a back-off: until it is
// over, the writer answers the same verb for the same object with the refusal and sends nothing.
// The back-off doubles with each refusal, and the first accepted write ends it. The log has a line
// when it begins and one when it ends; who creates an object reports the refusal instead, because
// the next try has another name.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "clients/kubernetes/api/kube_client.h"
#include "core/monotonic.h"
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
  // `lease` may be null: there is none; `name` is its. `client` and `lease` outlive this. `now`
  // rises.
  KubeWriter(KubeClient& client, const LeaseKeeper* lease, std::string name,
             std::function<Seconds()> now = MonotonicSeconds);

  // All at the same time; the answers in the order of the requests. What was not sent has code 0.
  std::vector<KubeReply> Write(std::vector<KubeRequest> requests);
  KubeReply Write(KubeRequest request);

  std::int64_t refused() const { return refused_; }  // writes, by the server

  static constexpr Seconds kFirstBackOff = 0.5;
  static constexpr Seconds kLongestBackOff = 30;

 private:
  struct Refusal {
    int times = 0;  // in a row
    Seconds not_before = 0;
    std::string text;
  };
  void Note(const KubeRequest& request, const KubeReply& reply);

  KubeClient& client_;
  const LeaseKeeper* const lease_;
  const std::string name_;
  const std::function<Seconds()> now_;
  std::map<std::string, Refusal> refusals_;  // by verb and object
  std::int64_t refused_ = 0;
};

}  // namespace allot
