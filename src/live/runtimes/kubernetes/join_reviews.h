#pragma once
// Whether workers that join are the pods that they say (pod_identity.h): the API server is asked,
// and the hub gets its answer. Used by KubernetesRuntime.

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "clients/kubernetes/api/kube_client.h"
#include "live/runtimes/kubernetes/kubernetes_options.h"
#include "live/workers/worker_hub.h"

namespace allot {

class JoinReviews {
 public:
  // Asks for the workers of `hub` from now on, unless `identity` is kOff. Both outlive this.
  JoinReviews(KubeClient& client, WorkerHub& hub, WorkerIdentity identity);
  JoinReviews(const JoinReviews&) = delete;  // the hub calls it
  JoinReviews& operator=(const JoinReviews&) = delete;

  // Whether pods that start now are to have an identity. Where the cluster does not let us ask
  // whose a token is, workers are known by the token of their job alone.
  bool WantIdentities();
  // Tells the hub what has come since. `uid_of`: of a worker's pod; "": it has none.
  void Answer(const std::function<std::string(const std::string& worker)>& uid_of);

 private:
  struct Question {
    std::uint64_t join = 0;  // the hub's number
    std::string worker;
    std::future<KubeReply> reply;
  };

  KubeClient& client_;
  WorkerHub& hub_;
  const WorkerIdentity identity_;
  std::optional<bool> may_review_;  // create TokenReviews; nullopt: not known yet
  std::vector<Question> questions_;
};

}  // namespace allot
