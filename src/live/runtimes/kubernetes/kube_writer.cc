#include "live/runtimes/kubernetes/kube_writer.h"

#include <fmt/format.h>

#include <utility>

namespace allot {

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

KubeWriter::KubeWriter(KubeClient& client, const LeaseKeeper* lease, std::string name)
    : client_(client), lease_(lease), name_(std::move(name)) {}

std::vector<KubeReply> KubeWriter::Write(std::vector<KubeRequest> requests) {
  if (lease_ == nullptr || lease_->held()) return client_.Do(std::move(requests));
  return std::vector<KubeReply>(requests.size(),
                                NoKubeReply("the lease " + name_ + " must be ours, it is not"));
}

KubeReply KubeWriter::Write(KubeRequest request) {
  std::vector<KubeRequest> one;
  one.push_back(std::move(request));
  return std::move(Write(std::move(one)).front());
}

}  // namespace allot
