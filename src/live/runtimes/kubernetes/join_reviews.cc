#include "live/runtimes/kubernetes/join_reviews.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "live/runtimes/kubernetes/pod_identity.h"

namespace allot {

JoinReviews::JoinReviews(KubeClient& client, WorkerHub& hub, WorkerIdentity identity)
    : client_(client), hub_(hub), identity_(identity) {
  if (identity == WorkerIdentity::kOff) return;
  hub_.AskIdentity([this](std::uint64_t join, const std::string& worker, const std::string& token) {
    questions_.push_back(
        {join, worker,
         client_.Ask(KubeRequest{"POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                                 MakeTokenReview(token)})});
  });
}

bool JoinReviews::WantIdentities() {
  if (identity_ != WorkerIdentity::kAuto) return identity_ == WorkerIdentity::kOn;
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

void JoinReviews::Answer(const std::function<std::string(const std::string& worker)>& uid_of) {
  std::vector<Question> left;
  for (Question& question : questions_) {
    if (question.reply.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      left.push_back(std::move(question));
      continue;
    }
    const KubeReply reply = question.reply.get();
    hub_.Identified(question.join, reply.ok()
                                       ? WhyNotOfPod(reply.body, uid_of(question.worker))
                                       : "the API server does not say who it is: " + reply.Text());
  }
  questions_ = std::move(left);
}

}  // namespace allot
