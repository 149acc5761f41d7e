// kubectl get jobs,pods,workloads -o json: Jobs, the pods that ran them, pods of other controllers,
// and Kueue's Workloads. What belongs to one Job or controller is one job.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "workload/job_rules.h"
#include "workload/kubernetes_fields.h"
#include "workload/row_error.h"
#include "workload/trace_builder.h"

namespace allot {
namespace {

using KubeObject = nlohmann::json;

constexpr std::string_view kKubectlAdvice =
    "make one with: kubectl get jobs,pods --all-namespaces -o json > jobs.json (with Kueue: "
    "jobs,pods,workloads.kueue.x-k8s.io)";
constexpr std::string_view kPodOfJob = "a pod of a job (counted with it)";
constexpr std::string_view kWorkloadOfJob = "a Kueue Workload of a job (counted with it)";

// A Job, pod or Workload, as far as it counts.
struct KubePart {
  int line = 0;
  std::string kind, name_space, name, uid;
  std::string owner_kind, owner_name, owner_uid;
  std::string queue, user, type;
  Seconds created = 0;
  std::optional<Seconds> start, end;  // of what ran; of Jobs: as the Job says
  std::int64_t gpus = 0;              // all pods at once
  bool parts_of_gpus = false;
  double priority = 0;
  Seconds time_limit = 0;
  Outcome outcome = Outcome::kUnreported;
};

// One job: what its controller and its parts say together.
struct KubeJob {
  const KubePart* job = nullptr;
  std::vector<const KubePart*> pods, workloads;
};

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

  // `list_kind` is the kind of items that name none: those of a JobList as the API gives it.
  KubePart Read(const std::string& list_kind) const {
    KubePart part;
    part.kind = TextAt(object_, {"kind"});
    if (part.kind.empty()) part.kind = list_kind;
    part.name = TextAt(object_, {"metadata", "name"});
    if (part.name.empty()) Fail("an object must have metadata.name", "nothing");
    part.name_space = TextAt(object_, {"metadata", "namespace"});
    part.uid = TextAt(object_, {"metadata", "uid"});
    if (part.kind != "Job" && part.kind != "Pod" && part.kind != "Workload") return part;
    ReadOwner(&part);
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

  // GPUs of one pod: its containers together, or an init container that has more.
  std::int64_t ReadPodSpec(const KubeObject& spec, KubePart* part) const {
    const auto gpus_of = [&](const KubeObject& container) {
      std::int64_t most = 0;
      for (const char* which : {"limits", "requests"}) {
        const KubeObject& resources = At(container, {"resources", which});
        const auto gpus = GpusOfResources(resources);
        if (!gpus) {
          Fail("GPUs of a container must be a whole number >= 0", At(resources, {}).dump());
        }
        most = std::max(most, *gpus);
        part->parts_of_gpus = part->parts_of_gpus || HasPartsOfGpus(resources);
      }
      return most;
    };
    std::int64_t gpus = 0;
    const KubeObject& containers = At(spec, {"containers"});
    if (containers.is_array()) {
      for (const KubeObject& container : containers) gpus += gpus_of(container);
    }
    const KubeObject& before = At(spec, {"initContainers"});
    if (before.is_array()) {
      for (const KubeObject& container : before) gpus = std::max(gpus, gpus_of(container));
    }
    if (part->type.empty()) part->type = GpuTypeOfLabels(At(spec, {"nodeSelector"}));
    const KubeObject& priority = At(spec, {"priority"});
    if (priority.is_number_integer()) part->priority = priority.get<double>();
    return gpus;
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
    std::int64_t pods = Count(At(object_, {"spec", "parallelism"}), "parallelism", 1);
    // As many at once as are wanted in all.
    pods = std::min(pods, Count(At(object_, {"spec", "completions"}), "completions", pods));
    part->gpus = each * std::max<std::int64_t>(pods, 1);
    part->time_limit = static_cast<Seconds>(
        Count(At(object_, {"spec", "activeDeadlineSeconds"}), "activeDeadlineSeconds", 0));
    part->start = Time({"status", "startTime"});
    part->end = Time({"status", "completionTime"});
    if (Since("Complete")) part->outcome = Outcome::kPassed;
    if (const auto failed = Since("Failed")) {
      part->outcome = Outcome::kFailed;
      if (!part->end) part->end = failed;
    }
  }

  void ReadPod(KubePart* part) const {
    part->gpus = ReadPodSpec(At(object_, {"spec"}), part);
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
    part->time_limit = static_cast<Seconds>(Count(
        At(object_, {"spec", "maximumExecutionTimeSeconds"}), "maximumExecutionTimeSeconds", 0));
    part->start = Since("Admitted");
    std::string reason;
    part->end = Since("Finished", &reason);
    if (reason == "Succeeded") part->outcome = Outcome::kPassed;
    if (reason == "Failed") part->outcome = Outcome::kFailed;
  }

  const KubeObject& object_;
  std::string place_;
};

// The most GPUs that the pods had at one time.
std::int64_t GpusAtOnce(const std::vector<const KubePart*>& pods) {
  std::int64_t most = 0;
  for (const KubePart* at : pods) {
    if (!at->start) continue;
    std::int64_t sum = 0;
    for (const KubePart* pod : pods) {
      const bool runs = pod->start && *pod->start <= *at->start &&
                        (!pod->end || *pod->end > *at->start || pod == at);
      sum += runs ? pod->gpus : 0;
    }
    most = std::max(most, sum);
  }
  return most;
}

std::optional<Job> MakeKubeJob(const KubeJob& story, TraceBuilder& builder) {
  const KubePart& first = story.job != nullptr      ? *story.job
                          : story.workloads.empty() ? *story.pods.front()
                                                    : *story.workloads.front();
  const KubePart* const workload = story.workloads.empty() ? nullptr : story.workloads.front();
  Job job;
  const bool owned = story.job == nullptr && !first.owner_name.empty();
  job.id = first.name_space + (first.name_space.empty() ? "" : "/") +
           (owned ? first.owner_name : first.name);
  job.submit = first.created;
  std::optional<Seconds> start, end;
  bool all_ended = true;
  bool parts = first.parts_of_gpus;
  for (const KubePart* pod : story.pods) {
    if (story.job == nullptr) job.submit = std::min(job.submit, pod->created);
    if (pod->start) start = std::min(start.value_or(*pod->start), *pod->start);
    if (pod->end) end = std::max(end.value_or(*pod->end), *pod->end);
    all_ended = all_ended && pod->outcome != Outcome::kUnreported;
    parts = parts || pod->parts_of_gpus;
  }
  std::int64_t gpus = story.job != nullptr  ? first.gpus
                      : workload != nullptr ? workload->gpus
                                            : GpusAtOnce(story.pods);
  if (story.job == nullptr && workload == nullptr && gpus == 0) {
    for (const KubePart* pod : story.pods) gpus = std::max(gpus, pod->gpus);
  }
  if (gpus == 0) return builder.Drop(parts ? "parts of GPUs only (MIG)" : kNoGpus);
  if (gpus > kMostGpus) {
    throw RowError(fmt::format("gpus must be from 1 to {}", kMostGpus), std::to_string(gpus),
                   builder.place());
  }
  job.gpus = static_cast<GpuCount>(gpus);
  // Without pods: Kueue's admission, else what the Job's controller calls its start.
  const bool of_pods = start.has_value();
  if (!start && workload != nullptr) start = workload->start;
  if (!start && story.job != nullptr) {
    start = story.job->start;
    if (start) builder.Adjust("no pods in the file: waiting for nodes counts as run time");
  }
  const KubePart* const said = story.job != nullptr ? story.job : workload;
  if (said != nullptr && said->end) {
    end = said->end;
  } else if (said != nullptr || !all_ended) {
    end.reset();
  }
  if (!start) return builder.Drop(kNeverStarted);
  if (!end) return builder.Drop(kNotEnded);
  if (*end <= *start) return builder.Drop(kNoRunTime);
  job.duration = *end - *start;
  // A Job's own start says nothing of the wait for nodes.
  if (of_pods || workload != nullptr) job.recorded_wait = std::max(0.0, *start - job.submit);
  job.outcome = said != nullptr ? said->outcome : story.pods.back()->outcome;
  job.priority = first.priority;
  job.user_estimate =
      first.time_limit > 0 || workload == nullptr ? first.time_limit : workload->time_limit;
  const std::string& queue =
      first.queue.empty() && workload != nullptr ? workload->queue : first.queue;
  Workload& names = builder.workload();
  job.tenant = names.tenants.Intern(first.name_space + (queue.empty() ? "" : "/" + queue));
  job.user = names.users.Intern(first.user);
  if (first.owner_kind == "CronJob") job.group = names.groups.Intern(first.owner_name);
  job.gpu_types = names.gpu_types.Intern(first.type);
  return job;
}

Workload ReadKubernetes(std::string_view text, const std::string& path, const ReadOptions& options,
                        ReadReport* report) {
  TraceBuilder builder(path, options, report);
  std::string list_kind;
  for (const char* kind : {"Job", "Pod", "Workload"}) {
    if (text.find(fmt::format("\"{}List\"", kind)) != std::string_view::npos) list_kind = kind;
  }
  std::vector<KubePart> parts;
  ForEachKubernetesObject(text, path, kKubectlAdvice, [&](int line, const auto& parse) {
    builder.Part(line, [&] {
      const KubeObject object = parse();
      KubePart part = KubeReader(object, builder.place()).Read(list_kind);
      part.line = line;
      if (part.kind != "Job" && part.kind != "Pod" && part.kind != "Workload") {
        builder.Drop("neither a Job, a pod nor a Kueue Workload");
        return;
      }
      parts.push_back(std::move(part));
    });
  });
  // By the uid of the Job or other controller, or by its name where nobody has a uid.
  const auto key = [](const std::string& uid, const std::string& name_space,
                      const std::string& kind, const std::string& name) {
    return uid.empty() ? name_space + "/" + kind + "/" + name : uid;
  };
  std::map<std::string, std::size_t> place_of;
  std::vector<KubeJob> jobs;
  const auto job_of = [&](const std::string& of) -> KubeJob& {
    const auto [at, is_new] = place_of.emplace(of, jobs.size());
    if (is_new) jobs.emplace_back();
    return jobs[at->second];
  };
  for (const KubePart& part : parts) {
    const bool by_owner = part.kind != "Job" && !part.owner_name.empty();
    KubeJob& job =
        job_of(by_owner ? key(part.owner_uid, part.name_space, part.owner_kind, part.owner_name)
                        : key(part.uid, part.name_space, part.kind, part.name));
    if (part.kind == "Job") {
      if (job.job != nullptr) {
        builder.Whole(part.line, [&] { return builder.Drop("the same object again"); });
        continue;
      }
      job.job = &part;
    } else {
      (part.kind == "Pod" ? job.pods : job.workloads).push_back(&part);
    }
  }
  for (const KubeJob& job : jobs) {
    // One part stands for the job, the others are counted with it.
    const KubePart* const itself = job.job != nullptr       ? job.job
                                   : !job.workloads.empty() ? job.workloads.front()
                                                            : job.pods.front();
    for (const auto* list : {&job.pods, &job.workloads}) {
      for (const KubePart* part : *list) {
        if (part == itself) continue;
        builder.Whole(part->line, [&] {
          return builder.Drop(part->kind == "Pod" ? kPodOfJob : kWorkloadOfJob);
        });
      }
    }
    builder.Whole(itself->line, [&] { return MakeKubeJob(job, builder); });
  }
  return builder.FinishCalendar();
}

int DetectKubernetes(std::string_view head) {
  for (const char* kind : {"\"Job", "\"Pod", "\"Workload"}) {
    if (LooksLikeKubernetes(head, kind)) return 100;
  }
  return LooksLikeKubernetes(head, "\"List\"") ? 90 : 0;
}

ALLOT_REGISTER(TraceFormat,
               (TraceFormat{"kubernetes",
                            "kubectl get jobs,pods -o json: Jobs, pods, Kueue's Workloads",
                            DetectKubernetes, ReadKubernetes}));

}  // namespace
}  // namespace allot
