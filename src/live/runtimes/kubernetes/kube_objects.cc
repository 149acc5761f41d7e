#include "live/runtimes/kubernetes/kube_objects.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "clients/kubernetes/fields.h"
#include "clients/kubernetes/kube_time.h"
#include "core/strings.h"
#include "live/runtimes/kubernetes/pod_identity.h"
#include "live/runtimes/runtime.h"

namespace allot {
namespace {

using Json = nlohmann::json;
using namespace nlohmann::literals;

std::string TextIn(const Json& object, const Json::json_pointer& where) {
  const Json* found = FindField(object, where);
  return found == nullptr ? "" : found->get<std::string>();
}

bool FlagIn(const Json& object, const Json::json_pointer& where) {
  const Json* found = FindField(object, where);
  return found != nullptr && found->get<bool>();
}

// The API's counts have 32 or 64 bits; what is more than ours can hold is as much as that.
int CountIn(const Json& object, const Json::json_pointer& where, int otherwise) {
  const Json* found = FindField(object, where);
  if (found == nullptr) return otherwise;
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(std::clamp<double>(found->get<double>(), Limits::min(), Limits::max()));
}

std::string MarkIn(const Json& object, const char* map, const char* key) {
  const Json* marks = FindField(object, Json::json_pointer(map));
  return marks == nullptr ? "" : marks->value(key, "");
}

double TimeIn(const Json& object, const Json::json_pointer& where) {
  return ParseKubernetesTime(TextIn(object, where)).value_or(kUnknown);
}

bool SameNumber(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool IsTrue(const Json& condition) { return condition.value("status", "") == "True"; }

}  // namespace

const KubeCondition* ManagedJob::Condition(const char* type) const {
  for (const KubeCondition& one : conditions) {
    if (one.type == type) return &one;
  }
  return nullptr;
}

bool operator==(const ManagedJob& a, const ManagedJob& b) {
  return a.uid == b.uid && a.deleting == b.deleting && a.suspended == b.suspended &&
         a.options == b.options && a.parallelism == b.parallelism && a.counted == b.counted &&
         a.time_limit == b.time_limit && *a.pod == *b.pod && a.conditions == b.conditions &&
         SameNumber(a.started, b.started) && a.active == b.active && a.ready == b.ready;
}

namespace {

// Of the manager that owns the field; what the server keeps of who wrote what.
std::string WriterOfParallelism(const Json& job) {
  const Json* managers = FindField(job, "/metadata/managedFields"_json_pointer);
  if (managers == nullptr) return "";
  for (const Json& one : *managers) {
    if (one.contains("/fieldsV1/f:spec/f:parallelism"_json_pointer))
      return one.value("manager", "");
  }
  return "";
}

// nullopt: its user did not ask for it.
std::optional<CountedSpec> ReadCountedSpec(const Json& job) {
  const std::string manager = TextIn(job, "/spec/managedBy"_json_pointer);
  const auto mark = [&](const char* key) {
    return MarkIn(job, "/metadata/annotations", (std::string(kube_mark::kPrefix) + key).c_str());
  };
  if (!manager.empty() && manager != "kubernetes.io/job-controller") return std::nullopt;
  if (mark("resize") != kube_mark::kResize) return std::nullopt;
  CountedSpec read;
  const auto written = std::string(kube_mark::kPrefix) + kube_mark::kWorkers;
  if (FindField(job, "/metadata/annotations"_json_pointer)->contains(written)) {
    read.written = mark(kube_mark::kWorkers);
  }
  read.completions_mark = mark(kube_mark::kCompletions);
  read.completions = CountIn(job, "/spec/completions"_json_pointer, -1);
  read.succeeded = CountIn(job, "/status/succeeded"_json_pointer, 0);
  read.indexed = TextIn(job, "/spec/completionMode"_json_pointer) == "Indexed";
  read.queued = !MarkIn(job, "/metadata/labels", kube_mark::kQueue).empty();
  const Json* labels = FindField(job, "/spec/template/metadata/labels"_json_pointer);
  read.labelled = labels != nullptr && labels->contains(kube_mark::kJob);
  read.resized_by = WriterOfParallelism(job);
  return read;
}

}  // namespace

std::optional<ManagedJob> ReadManagedJob(const Json& job) {
  std::optional<CountedSpec> counted = ReadCountedSpec(job);
  const std::string manager = TextIn(job, "/spec/managedBy"_json_pointer);
  if (!counted && manager != kube_mark::kManager) return std::nullopt;
  ManagedJob read;
  read.counted = std::move(counted);
  const Json& meta = job.at("metadata");
  read.uid = meta.at("uid").get<std::string>();
  read.space = meta.at("namespace").get<std::string>();
  read.name = meta.at("name").get<std::string>();
  read.created = TimeIn(job, "/metadata/creationTimestamp"_json_pointer);
  read.deleting = FindField(job, "/metadata/deletionTimestamp"_json_pointer) != nullptr;
  if (const Json* notes = FindField(job, "/metadata/annotations"_json_pointer)) {
    const std::string_view prefix = kube_mark::kPrefix;
    for (const auto& [key, value] : notes->items()) {
      if (!key.starts_with(prefix)) continue;
      const std::string option = key.substr(prefix.size());
      const bool ours = option == kube_mark::kWorkers || option == kube_mark::kCompletions;
      if (read.counted && ours) continue;
      read.options[option] = value.get<std::string>();
    }
  }
  read.suspended = FlagIn(job, "/spec/suspend"_json_pointer);
  read.parallelism = CountIn(job, "/spec/parallelism"_json_pointer, 1);
  if (const Json* limit = FindField(job, "/spec/activeDeadlineSeconds"_json_pointer)) {
    read.time_limit = limit->get<double>();
  }
  read.pod = std::make_shared<const Json>(job.at("spec").at("template"));
  const Json* conditions = FindField(job, "/status/conditions"_json_pointer);
  read.raw_conditions = std::make_shared<const Json>(conditions ? *conditions : Json::array());
  for (const Json& one : *read.raw_conditions) {
    if (!IsTrue(one)) continue;
    read.conditions.push_back(
        {one.value("type", ""), one.value("reason", ""), one.value("message", "")});
  }
  read.started = TimeIn(job, "/status/startTime"_json_pointer);
  read.active = CountIn(job, "/status/active"_json_pointer, 0);
  read.ready = CountIn(job, "/status/ready"_json_pointer, 0);
  return read;
}

namespace {

// "exit code 137 (OOMKilled)", of the first container that says why.
std::string EndOf(const Json& pod) {
  const Json* containers = FindField(pod, "/status/containerStatuses"_json_pointer);
  std::string said;
  if (containers != nullptr) {
    for (const Json& one : *containers) {
      const Json* end = FindField(one, "/state/terminated"_json_pointer);
      if (end == nullptr) continue;
      const int code = CountIn(*end, "/exitCode"_json_pointer, -1);
      const std::string why = TextIn(*end, "/reason"_json_pointer);
      const bool plain = why.empty() || why == "Error" || why == "Completed";
      if (said.empty() || code != 0) {
        said = fmt::format("exit code {}{}", code, plain ? "" : " (" + why + ")");
      }
    }
  }
  const std::string reason = TextIn(pod, "/status/reason"_json_pointer);
  const std::string message = TextIn(pod, "/status/message"_json_pointer);
  if (!reason.empty()) said += fmt::format("{}{}: {}", said.empty() ? "" : ", ", reason, message);
  return said.empty() ? "the kubelet gave no reason" : said;
}

// Waiting reasons: of some, the kubelet only repeats itself.
void ReadWaiting(const Json& pod, WorkerPod* read) {
  const Json* containers = FindField(pod, "/status/containerStatuses"_json_pointer);
  if (containers == nullptr) return;
  for (const Json& one : *containers) {
    const Json* waiting = FindField(one, "/state/waiting"_json_pointer);
    if (waiting == nullptr) continue;
    const std::string why = TextIn(*waiting, "/reason"_json_pointer);
    read->preparing =
        why == "ContainerCreating" || why == "PodInitializing" || why == "ErrImagePull";
    if (why != "ImagePullBackOff" && why != "InvalidImageName" && why != "ErrImageNeverPull") {
      continue;
    }
    read->stuck = true;
    read->reason = fmt::format("{}: {}", why, TextIn(*waiting, "/message"_json_pointer));
  }
}

// "Unschedulable", and "0/4 nodes are available: 1 Insufficient nvidia.com/gpu.", whose numbers
// are others all the time.
void ReadUnscheduled(const Json& pod, WorkerPod* read) {
  PendingStart& pending = read->pending.emplace();
  const Json* conditions = FindField(pod, "/status/conditions"_json_pointer);
  if (conditions == nullptr) return;
  for (const Json& one : *conditions) {
    if (one.value("type", "") != "PodScheduled") continue;
    if (std::string reason = one.value("reason", ""); !reason.empty()) {
      pending = {PendingCause::kNodes, std::move(reason)};
    }
    const std::string message = one.value("message", "");
    pending.detail = message.substr(0, message.find(" preemption: "));
    return;
  }
}

}  // namespace

std::optional<WorkerPod> ReadWorkerPod(const Json& pod) {
  WorkerPod read;
  read.worker = MarkIn(pod, "/metadata/annotations", kube_mark::kWorker);
  const Json& meta = pod.at("metadata");
  read.uid = meta.at("uid").get<std::string>();
  read.space = meta.at("namespace").get<std::string>();
  read.name = meta.at("name").get<std::string>();
  if (const Json* owners = FindField(pod, "/metadata/ownerReferences"_json_pointer)) {
    for (const Json& owner : *owners) {
      if (owner.value("controller", false)) read.job_uid = owner.value("uid", "");
    }
  }
  const bool labelled = !MarkIn(pod, "/metadata/labels", kube_mark::kJob).empty();
  if (read.worker.empty() && (read.job_uid.empty() || !labelled)) return std::nullopt;
  read.node = read.worker.empty() ? TextIn(pod, "/spec/nodeName"_json_pointer)
                                  : MarkIn(pod, "/metadata/annotations", kube_mark::kNode);
  const Json* gates = FindField(pod, "/spec/schedulingGates"_json_pointer);
  read.gated = gates != nullptr && !gates->empty();
  read.has_identity = HasIdentity(pod);
  const std::string gpus = MarkIn(pod, "/metadata/annotations", kube_mark::kGpus);
  read.gpus = std::strtoull(gpus.c_str(), nullptr, 16);
  read.team = MarkIn(pod, "/metadata/annotations", kube_mark::kTeam);
  read.deleting = FindField(pod, "/metadata/deletionTimestamp"_json_pointer) != nullptr;
  const std::string phase = TextIn(pod, "/status/phase"_json_pointer);
  if (phase == "Running") read.phase = PodPhase::kRunning;
  if (phase == "Succeeded") read.phase = PodPhase::kSucceeded;
  if (phase == "Failed") read.phase = PodPhase::kFailed;
  if (read.ended()) {
    read.reason = EndOf(pod);
  } else {
    ReadWaiting(pod, &read);
    if (TextIn(pod, "/spec/nodeName"_json_pointer).empty()) ReadUnscheduled(pod, &read);
  }
  return read;
}

}  // namespace allot
