#include "workload/formats/kubernetes_objects.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "clients/kubernetes/kube_time.h"
#include "clients/kubernetes/pod.h"
#include "core/strings.h"
#include "table/row_error.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

using KubeObject = nlohmann::json;

// A field far inside, null where it is not there.
const KubeObject& At(const KubeObject& object, std::initializer_list<const char*> keys) {
  static const KubeObject none;
  const KubeObject* at = &object;
  for (const char* key : keys) {
    if (!at->is_object()) return none;
    const auto found = at->find(key);
    if (found == at->end()) return none;
    at = &*found;
  }
  return *at;
}

std::string TextAt(const KubeObject& object, std::initializer_list<const char*> keys) {
  const KubeObject& found = At(object, keys);
  return found.is_string() ? found.get<std::string>() : "";
}

class KubeReader {
 public:
  KubeReader(const KubeObject& object, std::string place)
      : object_(object), place_(std::move(place)) {}

  KubePart Read() const {
    KubePart part;
    part.kind = TextAt(object_, {"kind"});
    part.name = TextAt(object_, {"metadata", "name"});
    if (part.name.empty()) Fail("an object must have metadata.name", "nothing");
    part.name_space = TextAt(object_, {"metadata", "namespace"});
    part.uid = TextAt(object_, {"metadata", "uid"});
    if (!part.counts()) return part;
    const std::string version = TextAt(object_, {"metadata", "resourceVersion"});
    part.version = ParseInteger(version).value_or(0);
    ReadOwner(&part);
    ReadSet(&part);
    const auto created = Time({"metadata", "creationTimestamp"});
    if (!created) Fail("an object must have metadata.creationTimestamp", "nothing");
    part.created = *created;
    for (const char* where : {"labels", "annotations"}) {
      const auto text = [&](const char* key) { return TextAt(object_, {"metadata", where, key}); };
      if (part.queue.empty()) part.queue = text("kueue.x-k8s.io/queue-name");
      for (const char* key : {"user", "username", "owner"}) {
        if (part.user.empty()) part.user = text(key);
      }
    }
    if (part.kind == "Job") ReadJob(&part);
    if (part.kind == "Pod") ReadPod(&part);
    if (part.kind == "Workload") ReadWorkload(&part);
    return part;
  }

 private:
  [[noreturn]] void Fail(const std::string& rule, std::string_view got) const {
    throw RowError(rule, got, place_);
  }

  std::optional<Seconds> Time(std::initializer_list<const char*> keys) const {
    return TimeOf(At(object_, keys), *(keys.end() - 1));
  }

  std::optional<Seconds> TimeOf(const KubeObject& value, const char* what) const {
    if (value.is_null()) return std::nullopt;
    const auto time =
        value.is_string() ? ParseKubernetesTime(value.get<std::string>()) : std::nullopt;
    if (!time) {
      Fail(fmt::format("'{}' must be a time, like 2026-11-22T12:38:49Z", what), value.dump());
    }
    return time;
  }

  std::int64_t Count(const KubeObject& value, const char* what, std::int64_t otherwise) const {
    if (value.is_null()) return otherwise;
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
        value.get<std::int64_t>() > kMostGpus) {
      Fail(fmt::format("'{}' must be a whole number from 0 to {}", what, kMostGpus), value.dump());
    }
    return value.get<std::int64_t>();
  }

  // 0 for none, and for one that is too long to ever end a job.
  Seconds Limit(const char* what) const {
    const KubeObject& value = At(object_, {"spec", what});
    if (value.is_null()) return 0;
    if (!value.is_number_integer() || value.get<double>() < 0) {
      Fail(fmt::format("'{}' must be a whole number of seconds >= 0", what), value.dump());
    }
    return value.get<double>() <= kLongestTime ? value.get<double>() : 0;
  }

  void ReadOwner(KubePart* part) const {
    const KubeObject& owners = At(object_, {"metadata", "ownerReferences"});
    if (!owners.is_array()) return;
    for (const KubeObject& owner : owners) {
      part->owner_kind = TextAt(owner, {"kind"});
      part->owner_name = TextAt(owner, {"name"});
      part->owner_uid = TextAt(owner, {"uid"});
      const KubeObject& controls = At(owner, {"controller"});
      if (controls.is_boolean() && controls.get<bool>()) return;
    }
  }

  // Controllers label what they make, where the objects between are not in the file.
  void ReadSet(KubePart* part) const {
    const auto label = [&](const char* key) {
      return TextAt(object_, {"metadata", "labels", key});
    };
    if (part->kind == "Workload") return;
    const auto set = [&](const std::string& kind, const std::string& name) {
      if (!part->set_name.empty() || kind.empty() || name.empty()) return;
      part->set_kind = kind;
      part->set_name = name;
    };
    if (part->kind == "Pod") set("Workload", label("kueue.x-k8s.io/pod-group-name"));
    set("JobSet", label("jobset.sigs.k8s.io/jobset-name"));
    set(label("ray.io/originated-from-crd"), label("ray.io/originated-from-cr-name"));
    if (part->owner_kind == "JobSet") set("JobSet", part->owner_name);
  }

  // GPUs of one pod.
  std::int64_t ReadPodSpec(const KubeObject& spec, KubePart* part) const {
    const PodGpus pod = ReadPodGpus(spec);
    if (!pod.malformed.empty()) {
      Fail("GPUs of a container must be a whole number >= 0", pod.malformed);
    }
    part->parts_of_gpus = part->parts_of_gpus || pod.parts;
    if (part->type.empty()) part->type = pod.type;
    const KubeObject& priority = At(spec, {"priority"});
    if (priority.is_number_integer()) part->priority = priority.get<double>();
    return pod.gpus;
  }

  // When a condition of this type became true.
  std::optional<Seconds> Since(const char* type, std::string* reason = nullptr) const {
    const KubeObject& conditions = At(object_, {"status", "conditions"});
    if (!conditions.is_array()) return std::nullopt;
    for (const KubeObject& condition : conditions) {
      if (TextAt(condition, {"type"}) != type || TextAt(condition, {"status"}) != "True") continue;
      if (reason != nullptr) *reason = TextAt(condition, {"reason"});
      return TimeOf(At(condition, {"lastTransitionTime"}), "lastTransitionTime");
    }
    return std::nullopt;
  }

  void ReadJob(KubePart* part) const {
    const std::int64_t each = ReadPodSpec(At(object_, {"spec", "template", "spec"}), part);
    const std::int64_t parallelism = Count(At(object_, {"spec", "parallelism"}), "parallelism", 1);
    // As many at once as are wanted in all.
    const std::int64_t pods = std::min(
        parallelism, Count(At(object_, {"spec", "completions"}), "completions", parallelism));
    part->gpus = each * std::max<std::int64_t>(pods, 1);
    part->gpus_of_pod = each;
    const KubeObject& suspend = At(object_, {"spec", "suspend"});
    part->suspended = parallelism == 0 || (suspend.is_boolean() && suspend.get<bool>());
    ReadResizes(part);
    part->time_limit = Limit("activeDeadlineSeconds");
    part->start = Time({"status", "startTime"});
    part->end = Time({"status", "completionTime"});
    if (Since("Complete")) part->outcome = Outcome::kPassed;
    if (const auto failed = Since("Failed")) {
      part->outcome = Outcome::kFailed;
      if (!part->end) part->end = failed;
    }
    // Its controller sets a start, too, while it runs no pod.
    if (parallelism == 0 && !part->end) part->start.reset();
  }

  // Annotations of allot's. What it would not understand it did not run either.
  void ReadResizes(KubePart* part) const {
    const auto note = [&](const char* key) {
      return TextAt(object_, {"metadata", "annotations", key});
    };
    const auto gpus = [&](const char* key, std::int64_t otherwise) {
      const auto value = ParseInteger(note(key));
      return value && *value > 0 && *value <= kMostGpus ? *value : otherwise;
    };
    const bool ours = TextAt(object_, {"spec", "managedBy"}) == "allot.dev/scheduler";
    const bool sized = !note("allot.dev/min").empty() || !note("allot.dev/max").empty() ||
                       !note("allot.dev/gpus").empty();
    if (part->gpus == 0 || (!ours && !sized)) return;
    part->min_gpus = part->max_gpus = part->gpus;
    part->model = note("allot.dev/model");
    if (!sized && part->model.empty() && note("allot.dev/resize").empty()) return;  // of one size
    part->min_gpus = gpus("allot.dev/min", 1);
    part->gpus = gpus("allot.dev/gpus", part->min_gpus);
    part->max_gpus = gpus("allot.dev/max", std::max(part->min_gpus, part->gpus));
  }

  void ReadPod(KubePart* part) const {
    part->gpus = ReadPodSpec(At(object_, {"spec"}), part);
    part->gpus_of_pod = part->gpus;
    const std::string phase = TextAt(object_, {"status", "phase"});
    if (phase == "Succeeded") part->outcome = Outcome::kPassed;
    if (phase == "Failed") part->outcome = Outcome::kFailed;
    const KubeObject& containers = At(object_, {"status", "containerStatuses"});
    const bool over = phase == "Succeeded" || phase == "Failed";
    if (containers.is_array()) {
      for (const KubeObject& container : containers) {
        for (const char* state : {"running", "terminated"}) {
          const auto began = TimeOf(At(container, {"state", state, "startedAt"}), "startedAt");
          if (began) part->start = std::min(part->start.value_or(*began), *began);
        }
        const auto ended =
            TimeOf(At(container, {"state", "terminated", "finishedAt"}), "finishedAt");
        if (ended && over) part->end = std::max(part->end.value_or(*ended), *ended);
      }
    }
    if (!part->start) part->start = Time({"status", "startTime"});
  }

  void ReadWorkload(KubePart* part) const {
    const std::string queue = TextAt(object_, {"spec", "queueName"});
    if (!queue.empty()) part->queue = queue;
    const KubeObject& sets = At(object_, {"spec", "podSets"});
    if (sets.is_array()) {
      for (const KubeObject& set : sets) {
        part->gpus += ReadPodSpec(At(set, {"template", "spec"}), part) *
                      Count(At(set, {"count"}), "count", 1);
      }
    }
    const KubeObject& priority = At(object_, {"spec", "priority"});
    if (priority.is_number_integer()) part->priority = priority.get<double>();
    part->time_limit = Limit("maximumExecutionTimeSeconds");
    part->start = Since("Admitted");
    std::string reason;
    part->end = Since("Finished", &reason);
    if (reason == "Succeeded") part->outcome = Outcome::kPassed;
    if (reason == "Failed") part->outcome = Outcome::kFailed;
  }

  const KubeObject& object_;
  std::string place_;
};

// 2: it ended, 1: it started.
int HowFar(const KubePart& part) {
  if (part.end || part.outcome != Outcome::kUnreported) return 2;
  return part.start ? 1 : 0;
}

}  // namespace

KubePart ReadKubePart(const nlohmann::json& object, const std::string& place) {
  return KubeReader(object, place).Read();
}

bool IsAtLeastAsNew(const KubePart& a, const KubePart& b) {
  if (a.version != b.version && a.version > 0 && b.version > 0) return a.version > b.version;
  return HowFar(a) >= HowFar(b);
}

}  // namespace allot
