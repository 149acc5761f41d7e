#include "live/runtimes/kubernetes/kube_writer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace allot {
namespace {

constexpr int kMostConflicts = 3;          // in a row: others write the object, too
constexpr Seconds kLongestRequested = 60;  // pause that a server asks for
constexpr Seconds kForgetAfter = 600;      // objects that are written no more

// "PATCH /apis/batch/v1/namespaces/default/jobs/t".
std::string VerbAndObject(const KubeRequest& request) {
  std::string text = request.method + " " + request.path.substr(0, request.path.find('?'));
  if (request.method == "POST") {
    text += "/" + request.body.at("metadata").at("name").get<std::string>();
  }
  return text;
}

}  // namespace

std::string CollectionPath(const std::string& space, const char* group, const char* kind) {
  return fmt::format("/{}{}/{}", group, space.empty() ? "" : "/namespaces/" + space, kind);
}

std::string JobPath(const ManagedJob& job) {
  return CollectionPath(job.space, "apis/batch/v1", "jobs") + "/" + job.name;
}

KubeRequest DeletionOf(const WorkerPod& pod, int grace) {
  nlohmann::json how = {{"preconditions", {{"uid", pod.uid}}}};
  if (grace >= 0) how["gracePeriodSeconds"] = grace;
  return {"DELETE", CollectionPath(pod.space, "api/v1", "pods") + "/" + pod.name, std::move(how)};
}

KubeWriter::KubeWriter(KubeClient& client, const LeaseKeeper* lease, std::string name,
                       std::function<Seconds()> now)
    : client_(client), lease_(lease), name_(std::move(name)), now_(std::move(now)) {}

std::vector<KubeReply> KubeWriter::Write(std::vector<KubeRequest> requests) {
  if (lease_ != nullptr && !lease_->held()) {
    return std::vector<KubeReply>(requests.size(),
                                  NoKubeReply("the lease " + name_ + " must be ours, it is not"));
  }
  std::vector<KubeReply> replies(requests.size());
  std::vector<KubeRequest> due;
  std::vector<std::size_t> place;  // of these
  for (std::size_t r = 0; r < requests.size(); ++r) {
    const auto refusal = refusals_.find(VerbAndObject(requests[r]));
    if (refusal != refusals_.end() && now_() < refusal->second.not_before) {
      replies[r] = NoKubeReply(refusal->second.text);
      continue;
    }
    due.push_back(requests[r]);
    place.push_back(r);
  }
  std::vector<KubeReply> answers = client_.Do(std::move(due));
  for (std::size_t a = 0; a < answers.size(); ++a) {
    Note(requests[place[a]], answers[a]);
    replies[place[a]] = std::move(answers[a]);
  }
  return replies;
}

KubeReply KubeWriter::Write(KubeRequest request) {
  std::vector<KubeRequest> one;
  one.push_back(std::move(request));
  return std::move(Write(std::move(one)).front());
}

void KubeWriter::Note(const KubeRequest& request, const KubeReply& reply) {
  if (reply.code == 0) return;  // none came
  const std::string what = VerbAndObject(request);
  if (reply.ok() || reply.Is("NotFound") || reply.Is("AlreadyExists")) {
    const auto refusal = refusals_.extract(what);
    const bool logged = refusal && !refusal.mapped().text.empty();
    if (logged && reply.ok()) spdlog::info("the API server accepts {} again", what);
    return;
  }
  const Seconds now = now_();
  Refusal& refusal = refusals_[what];
  ++refusal.times;
  if (reply.Is("Conflict") && refusal.times < kMostConflicts) return;
  ++refused_;
  if (refusal.text.empty() && request.method != "POST") {
    spdlog::warn("the API server refuses {}, will retry after growing pauses: {}", what,
                 reply.Text());
  }
  refusal.text = reply.Text();
  const Seconds doubled = kFirstBackOff * std::exp2(std::min(refusal.times - 1, 20));
  refusal.not_before = now + std::max(std::min(doubled, kLongestBackOff),
                                      std::min(reply.retry_after, kLongestRequested));
  std::erase_if(refusals_,
                [now](const auto& one) { return now > one.second.not_before + kForgetAfter; });
}

}  // namespace allot
