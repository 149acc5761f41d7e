// Kueue's ClusterQueues on a Kubernetes cluster: lists them, and writes the annotation
// kueue.x-k8s.io/priority-boost of Workloads (kueue_snapshot.h).

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "advice/advised_queue.h"
#include "advice/kueue_snapshot.h"
#include "clients/kubernetes/api/kube_client.h"
#include "clients/kubernetes/api/kube_config.h"
#include "clients/kubernetes/fields.h"
#include "core/wall_clock.h"
#include "live/runtimes/kubernetes/kubernetes_options.h"
#include "live/runtimes/kubernetes/kueue_health.h"

namespace allot {
namespace {

class KueueQueue final : public AdviceTarget {
 public:
  KueueQueue(const Params& params, std::vector<std::string> cluster_queues)
      : client_(FindKubeConfig(params.Text("kubeconfig"), params.Text("context")),
                params.Number("timeout"), {}, [] {}),
        ask_([this](const KubeRequest& request) { return client_.Do(request); }),
        only_(std::move(cluster_queues)) {}

  AdviceSnapshot Read() override;
  Workload Past(std::string* why) override;
  Status MayWrite() override { return MayBoost(ask_); }
  Status SetNice(const std::string& id, int nice) override;
  std::string CommandFor(const std::string& id, int nice) const override;

 private:
  // All objects of a plural: "workloads". RunError without an answer.
  std::vector<nlohmann::json> List(const char* plural);

  KubeClient client_;
  AskKubernetes ask_;
  std::vector<std::string> only_;
  std::string version_;
  KueueLists lists_;  // as read last
};

// "ann", "w1" of "ann/w1".
std::pair<std::string, std::string> SpaceAndName(const std::string& id) {
  const std::size_t slash = id.find('/');
  return {id.substr(0, slash), id.substr(slash + 1)};
}

std::vector<nlohmann::json> KueueQueue::List(const char* plural) {
  if (version_.empty()) version_ = KueueVersion(ask_);
  std::vector<nlohmann::json> items;
  std::string more;
  do {
    std::string path = fmt::format("{}/{}?limit=500", version_, plural);
    if (!more.empty()) path += "&continue=" + QueryText(more);
    KubeReply reply = client_.Do({"GET", std::move(path)});
    if (!reply.ok()) {
      throw RunError("{}{}", reply.ToStatus(fmt::format("listing {}", plural)).message(),
                     reply.code == 403 ? fmt::format(" ({})", kKueueRights) : "");
    }
    const auto page = reply.body.find("items");
    if (page == reply.body.end() || !page->is_array()) {
      throw RunError("listing {}: the answer has no items", plural);
    }
    std::move(page->begin(), page->end(), std::back_inserter(items));
    const nlohmann::json* const next =
        FindField(reply.body, nlohmann::json::json_pointer("/metadata/continue"));
    more = next != nullptr && next->is_string() ? next->get<std::string>() : "";
  } while (!more.empty());
  return items;
}

AdviceSnapshot KueueQueue::Read() {
  lists_ = {.cluster_queues = List("clusterqueues"),
            .local_queues = List("localqueues"),
            .workloads = List("workloads")};
  return KueueSnapshot(lists_, only_, std::floor(WallSeconds()));
}

Workload KueueQueue::Past(std::string* why) {
  Workload past = KueuePast(lists_);
  if (past.jobs.empty()) *why = "no Workload that has ended is listed";
  return past;
}

Status KueueQueue::SetNice(const std::string& id, int nice) {
  const auto [space, name] = SpaceAndName(id);
  const nlohmann::json boost =
      nice == 0 ? nlohmann::json(nullptr) : nlohmann::json(std::to_string(-nice));
  const KubeReply reply =
      client_.Do({"PATCH",
                  fmt::format("{}/namespaces/{}/workloads/{}", version_, space, name),
                  {{"metadata", {{"annotations", {{kPriorityBoost, boost}}}}}}});
  if (reply.ok() || reply.code == 404) return Status::Ok();
  Status refused = reply.ToStatus(fmt::format("annotating Workload {}", id));
  if (reply.code != 403) return refused;
  return Status::Refused("{} ({})", refused.message(), kKueueRights);
}

std::string KueueQueue::CommandFor(const std::string& id, int nice) const {
  const auto [space, name] = SpaceAndName(id);
  const std::string value = nice == 0 ? "-" : fmt::format("=-{}", nice);
  return fmt::format("kubectl -n {} annotate --overwrite workloads.kueue.x-k8s.io {} {}{}", space,
                     name, kPriorityBoost, value);
}

std::vector<ParamSpec> KueueParams() {
  std::vector<ParamSpec> all = KubernetesParams();
  std::erase_if(all, [](const ParamSpec& one) {
    return one.name != "kubeconfig" && one.name != "context" && one.name != "timeout";
  });
  return all;
}

ALLOT_REGISTER(AdviceTargetInfo,
               (AdviceTargetInfo{
                   .id = "kubernetes",
                   .summary = "ClusterQueues of Kueue; writes the priority boost of Workloads",
                   .params = KueueParams(),
                   .make = [](const Params& params, const std::vector<std::string>& partitions) {
                     return std::make_unique<KueueQueue>(params, partitions);
                   }}));

}  // namespace
}  // namespace allot
