#include "advice/kueue_snapshot.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "clients/kubernetes/fields.h"
#include "clients/kubernetes/gpu_resources.h"
#include "clients/kubernetes/kube_time.h"
#include "core/strings.h"
#include "table/row_error.h"
#include "workload/formats/kubernetes_objects.h"
#include "workload/job_rules.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

using KueueJson = nlohmann::json;

// No Nice makes a priority smaller than 1, and those of Kueue may be negative: all are raised.
constexpr std::int64_t kRaised = std::int64_t{1} << 33;
constexpr GpuCount kGpusOfNode = 8;  // of a cluster that stands for a quota

std::string TextAt(const KueueJson& object, const char* pointer) {
  const KueueJson* const found = FindField(object, KueueJson::json_pointer(pointer));
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

const KueueJson& ListAt(const KueueJson& object, const char* pointer) {
  static const KueueJson none = KueueJson::array();
  const KueueJson* const found = FindField(object, KueueJson::json_pointer(pointer));
  return found != nullptr && found->is_array() ? *found : none;
}

std::string NameOf(const KueueJson& object) { return TextAt(object, "/metadata/name"); }

// "team-a/main"
std::string IdOf(const KueueJson& object, const std::string& name) {
  return fmt::format("{}/{}", TextAt(object, "/metadata/namespace"), name);
}

// The condition of this type, if it is true.
const KueueJson* TrueCondition(const KueueJson& workload, const char* type) {
  for (const KueueJson& condition : ListAt(workload, "/status/conditions")) {
    if (TextAt(condition, "/type") == type && TextAt(condition, "/status") == "True") {
      return &condition;
    }
  }
  return nullptr;
}

Seconds SinceOf(const KueueJson& condition) {
  return ParseKubernetesTime(TextAt(condition, "/lastTransitionTime")).value_or(0);
}

// Minus the boost; nullopt where the annotation is no number that Kueue takes.
std::optional<int> NiceOf(const KueueJson& workload) {
  const std::string text = TextAt(workload, "/metadata/annotations/kueue.x-k8s.io~1priority-boost");
  if (text.empty()) return 0;
  const auto boost = ParseInteger(text);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (!boost || *boost < -kMost || *boost > kMost) return std::nullopt;
  return static_cast<int>(-*boost);
}

Resources NodeOf(GpuCount gpus) { return {.gpus = gpus, .cpus = 8 * gpus}; }

// By the quota of each flavour. Nullopt: it has none of GPUs.
std::optional<ClusterSpec> QuotaOf(const KueueJson& cluster_queue) {
  ClusterSpec cluster;
  bool has_gpus = false;
  for (const KueueJson& group : ListAt(cluster_queue, "/spec/resourceGroups")) {
    for (const KueueJson& flavour : ListAt(group, "/flavors")) {
      double quota = 0;
      for (const KueueJson& resource : ListAt(flavour, "/resources")) {
        const auto& gpus = GpuResources();
        if (std::find(gpus.begin(), gpus.end(), TextAt(resource, "/name")) == gpus.end()) continue;
        if (!resource.contains("nominalQuota")) continue;
        quota += ParseQuantity(resource.at("nominalQuota")).value_or(0);
      }
      auto left = static_cast<GpuCount>(std::clamp<double>(quota, 0, kMostGpus));
      const std::string type = TextAt(flavour, "/name");
      has_gpus = has_gpus || left > 0;
      if (left >= kGpusOfNode) {
        cluster.AddNodes(left / kGpusOfNode, NodeOf(kGpusOfNode), type);
      }
      left %= kGpusOfNode;
      if (left > 0) cluster.AddNodes(1, NodeOf(left), type);
    }
  }
  if (!has_gpus) return std::nullopt;
  return cluster;
}

std::string CohortOf(const KueueJson& cluster_queue) {
  const std::string named = TextAt(cluster_queue, "/spec/cohortName");
  return named.empty() ? TextAt(cluster_queue, "/spec/cohort") : named;
}

bool IsSet(const KueueJson& cluster_queue, const char* pointer, const char* otherwise) {
  const std::string text = TextAt(cluster_queue, pointer);
  return !text.empty() && text != otherwise;
}

class KueueReader {
 public:
  KueueReader(const KueueLists& lists, Seconds now);
  AdviceSnapshot Read(const std::vector<std::string>& only);

 private:
  struct KnownQueue {
    AdvisedQueue queue;
    std::string left_alone;  // why all of its jobs are; "": they are not
  };
  void AddQueue(const KueueJson& cluster_queue);
  std::string WhyLeftAlone(const KueueJson& cluster_queue) const;
  void AddWorkload(KueueJson workload);
  void AddWaiting(const KueueJson& workload, QueuedJob job, KnownQueue* known) const;
  void AddRunning(const KueueJson& workload, const KueueJson& reserved, QueuedJob job,
                  KnownQueue* known) const;

  const KueueLists& lists_;
  bool reclaims_ = false;                        // some ClusterQueue of a cohort
  std::map<std::string, KnownQueue> queues_;     // by ClusterQueue
  std::map<std::string, std::string> queue_of_;  // ClusterQueue by LocalQueue
  std::set<std::string> stopped_;                // LocalQueues
  AdviceSnapshot snapshot_;
};

KueueReader::KueueReader(const KueueLists& lists, Seconds now) : lists_(lists) {
  snapshot_.now = now;
  for (const KueueJson& one : lists.cluster_queues) {
    reclaims_ = reclaims_ || (!CohortOf(one).empty() &&
                              IsSet(one, "/spec/preemption/reclaimWithinCohort", "Never"));
  }
  for (const KueueJson& one : lists.local_queues) {
    const std::string id = IdOf(one, NameOf(one));
    queue_of_[id] = TextAt(one, "/spec/clusterQueue");
    if (IsSet(one, "/spec/stopPolicy", "None")) stopped_.insert(id);
  }
}

std::string KueueReader::WhyLeftAlone(const KueueJson& cluster_queue) const {
  if (IsSet(cluster_queue, "/spec/stopPolicy", "None")) return "its ClusterQueue is stopped";
  if (IsSet(cluster_queue, "/spec/preemption/withinClusterQueue", "Never")) {
    return "its ClusterQueue preempts by priority";
  }
  if (!CohortOf(cluster_queue).empty() && reclaims_) {
    return "a cohort of this cluster preempts by priority";
  }
  if (!TextAt(cluster_queue, "/spec/admissionScope/admissionMode").empty()) {
    return "its ClusterQueue orders by usage";
  }
  return "";
}

void KueueReader::AddQueue(const KueueJson& cluster_queue) {
  auto quota = QuotaOf(cluster_queue);
  if (!quota) return;
  KnownQueue& known = queues_[NameOf(cluster_queue)];
  known.left_alone = WhyLeftAlone(cluster_queue);
  known.queue.name = NameOf(cluster_queue);
  known.queue.cluster = std::move(*quota);
  // Kueue passes over what does not fit, without a reservation.
  known.queue.scheduler = "fifo:ordering=priority";
}

void KueueReader::AddRunning(const KueueJson& workload, const KueueJson& reserved, QueuedJob job,
                             KnownQueue* known) const {
  std::int64_t gpus = 0;
  for (const KueueJson& set : ListAt(workload, "/status/admission/podSetAssignments")) {
    if (set.contains("resourceUsage")) {
      gpus += GpusOfResources(set.at("resourceUsage")).value_or(0);
    }
  }
  if (gpus > 0) job.gpus = static_cast<GpuCount>(std::min<std::int64_t>(gpus, kMostGpus));
  job.start = SinceOf(reserved);
  if (job.gpus > 0) known->queue.running.push_back(std::move(job));
}

void KueueReader::AddWaiting(const KueueJson& workload, QueuedJob job, KnownQueue* known) const {
  const KueueJson* const active = FindField(workload, KueueJson::json_pointer("/spec/active"));
  const bool is_active = active == nullptr || *active != KueueJson(false);
  const auto again = ParseKubernetesTime(TextAt(workload, "/status/requeueState/requeueAt"));
  if (job.gpus == 0 && job.left_alone.empty()) job.left_alone = "asks for no GPUs";
  if (stopped_.contains(job.user)) job.left_alone = "its LocalQueue is stopped";
  if (!NiceOf(workload)) job.left_alone = "its priority-boost is no number";
  if (!is_active) job.left_alone = "deactivated";
  if (again && *again > snapshot_.now) job.left_alone = "waits to be queued again";
  job.competes = job.left_alone.empty();
  if (job.left_alone.empty()) job.left_alone = known->left_alone;
  known->queue.waiting.push_back(std::move(job));
}

void KueueReader::AddWorkload(KueueJson workload) {
  if (TrueCondition(workload, "Finished") != nullptr) return;
  workload["kind"] = "Workload";  // items of a list do not say
  QueuedJob job;
  job.id = IdOf(workload, NameOf(workload));
  KubePart part;
  try {
    part = ReadKubePart(workload, "Workload " + job.id);
  } catch (const RowError&) {
    job.left_alone = "is malformed";
  }
  job.user = IdOf(workload, TextAt(workload, "/spec/queueName"));
  job.account = TextAt(workload, "/metadata/namespace");
  job.name = part.owner_name;
  job.gpus = static_cast<GpuCount>(std::min<std::int64_t>(part.gpus, kMostGpus));
  job.submit = part.created;
  job.limit = part.time_limit;
  job.nice = NiceOf(workload).value_or(0);
  job.priority = kRaised + static_cast<std::int64_t>(part.priority) - job.nice;
  const KueueJson* const reserved = TrueCondition(workload, "QuotaReserved");
  snapshot_.jobs[job.id] = {job.nice, job.submit, reserved != nullptr ? SinceOf(*reserved) : 0};
  const auto queue = queues_.find(queue_of_[job.user]);
  if (queue == queues_.end()) return;
  if (reserved != nullptr) {
    AddRunning(workload, *reserved, std::move(job), &queue->second);
  } else {
    AddWaiting(workload, std::move(job), &queue->second);
  }
}

// When it came into its queue: again, where its pods did not become ready in time.
Seconds QueuedSince(const KueueJson& workload) {
  const KueueJson* const evicted = TrueCondition(workload, "Evicted");
  if (evicted != nullptr && TextAt(*evicted, "/reason") == "PodsReadyTimeout") {
    return SinceOf(*evicted);
  }
  return ParseKubernetesTime(TextAt(workload, "/metadata/creationTimestamp")).value_or(0);
}

AdviceSnapshot KueueReader::Read(const std::vector<std::string>& only) {
  for (const KueueJson& one : lists_.cluster_queues) {
    const bool is_named = std::find(only.begin(), only.end(), NameOf(one)) != only.end();
    if (only.empty() || is_named) AddQueue(one);
  }
  for (const std::string& name : only) {
    if (queues_.contains(name)) continue;
    throw UsageError("--partition must name a ClusterQueue with a quota of GPUs, got '{}'", name);
  }
  // Of one priority the oldest goes first, then the smallest uid.
  std::vector<std::pair<std::pair<Seconds, std::string>, const KueueJson*>> by_age;
  by_age.reserve(lists_.workloads.size());
  for (const KueueJson& one : lists_.workloads) {
    by_age.push_back({{QueuedSince(one), TextAt(one, "/metadata/uid")}, &one});
  }
  std::sort(by_age.begin(), by_age.end());
  for (const auto& [age, workload] : by_age) AddWorkload(*workload);
  for (auto& [name, known] : queues_) {
    std::vector<QueuedJob>& waiting = known.queue.waiting;
    for (std::size_t j = 0; j < waiting.size(); ++j) waiting[j].number = j;
    if (!waiting.empty()) snapshot_.queues.push_back(std::move(known.queue));
  }
  return std::move(snapshot_);
}

}  // namespace

AdviceSnapshot KueueSnapshot(const KueueLists& lists, const std::vector<std::string>& only,
                             Seconds now) {
  return KueueReader(lists, now).Read(only);
}

Workload KueuePast(const KueueLists& lists) {
  KueueJson list{{"kind", "List"}, {"items", KueueJson::array()}};
  for (const KueueJson& one : lists.workloads) {
    if (TrueCondition(one, "Finished") == nullptr) continue;
    list["items"].push_back(one);
    list["items"].back()["kind"] = "Workload";
  }
  if (list["items"].empty()) return {};
  ReadReport report;
  const TraceFormat& format = Registry<TraceFormat>::Global().Get("trace format", "kubernetes");
  Workload past =
      format.read(list.dump(1), "Kueue's Workloads", ReadOptions{.lenient = true}, &report);
  for (Job& job : past.jobs) job.user = past.users.Intern(past.tenants[job.tenant]);
  return past;
}

}  // namespace allot
