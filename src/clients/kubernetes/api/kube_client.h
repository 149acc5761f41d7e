#pragma once
// The API server over HTTPS: requests with a deadline, and kinds of objects that are kept known by
// watches (list_watch.h). One thread of its own holds all connections (HTTP/2 where the server
// speaks it); those who ask wait for it, but never longer than the deadline. The token of a file is
// read again when the file changes and when the server refuses it.
//
// A request that got no answer, or one that says "later" (429, 5xx; 401 where the token comes from
// a file), is sent again until the deadline. All that allot asks for may be asked twice.

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "clients/kubernetes/api/kube_config.h"
#include "clients/kubernetes/api/kube_reply.h"
#include "clients/kubernetes/api/list_watch.h"
#include "core/types.h"

namespace allot {

class KubeClient {
 public:
  // `patience`: seconds for a request. `kept` outlive it; they are used under mutex() only.
  // `on_change` is called from the client's thread when something that is kept, or whether it can
  // be trusted, has changed, and when the answer to an Ask is there.
  KubeClient(KubeConfig config, Seconds patience, std::vector<ListWatch*> kept,
             std::function<void()> on_change);
  ~KubeClient();
  KubeClient(const KubeClient&) = delete;
  KubeClient& operator=(const KubeClient&) = delete;

  // All at the same time; the answers in the order of the requests. code 0: none came.
  std::vector<KubeReply> Do(std::vector<KubeRequest> requests);
  KubeReply Do(KubeRequest request);
  // Does not wait.
  std::future<KubeReply> Ask(KubeRequest request);

  std::mutex& mutex();

 private:
  struct Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace allot
