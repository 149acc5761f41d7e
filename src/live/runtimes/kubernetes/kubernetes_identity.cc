// Workers that are to show which pod they are (pod_identity.h).

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "live/runtimes/kubernetes/kubernetes_runtime.h"
#include "live/runtimes/kubernetes/pod_identity.h"

namespace allot {

// Where the cluster does not let us ask whose a token is, workers are known by their job's alone.
bool KubernetesRuntime::GivesIdentities() {
  if (options_.identity != WorkerIdentity::kAuto) return options_.identity == WorkerIdentity::kOn;
  if (!may_review_) {
    const KubeReply reply = client_.Do(KubeRequest{
        "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", MakeReviewRight()});
    if (!reply.ok()) return false;  // asked again at the next start
    may_review_ = MayReview(reply.body);
    if (!*may_review_) {
      spdlog::warn(
          "workers are known by the token of their job alone: to know them by their pods, the "
          "daemon must be allowed to create tokenreviews (deploy/kubernetes/rights.yaml)");
    }
  }
  return *may_review_;
}

void KubernetesRuntime::AskWhoJoins(std::uint64_t join, const std::string& worker,
                                    const std::string& identity) {
  questions_.push_back(
      {join, worker,
       client_.Ask(KubeRequest{"POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                               MakeTokenReview(identity)})});
}

void KubernetesRuntime::AnswerJoins() {
  std::vector<PendingIdentity> left;
  for (PendingIdentity& question : questions_) {
    if (question.reply.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      left.push_back(std::move(question));
      continue;
    }
    const KubeReply reply = question.reply.get();
    hub_.Identified(question.join, reply.ok()
                                       ? WhyNotOfPod(reply.body, PodUidOf(question.worker))
                                       : "the API server does not say who it is: " + reply.Text());
  }
  questions_ = std::move(left);
}

std::string KubernetesRuntime::PodUidOf(const std::string& worker) {
  std::string uid;
  const std::lock_guard lock(client_.mutex());
  pods_.ForEach([&](const WorkerPod& pod) {
    if (pod.worker == worker && IsOwnPod(pod)) uid = pod.uid;
  });
  return uid;
}

}  // namespace allot
