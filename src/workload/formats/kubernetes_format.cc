// kubectl get jobs,pods,workloads -o json: Jobs, the pods that ran them, pods of other controllers,
// and Kueue's Workloads. What belongs to one Job or controller is one job.

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>

#include "core/gpu_parts.h"
#include "table/row_error.h"
#include "workload/formats/kubernetes_groups.h"
#include "workload/formats/trace_builder.h"
#include "workload/job_rules.h"
#include "workload/kubernetes_fields.h"

namespace allot {
namespace {

constexpr std::string_view kKubectlAdvice =
    "make one with: kubectl get jobs,pods --all-namespaces -o json > jobs.json (with Kueue: "
    "jobs,pods,workloads.kueue.x-k8s.io)";
constexpr std::string_view kPodOfJob = "a pod of a job (counted with it)";
constexpr std::string_view kWorkloadOfJob = "a Kueue Workload of a job (counted with it)";
constexpr std::string_view kJobOfSet = "a Job of a JobSet or other controller (counted with it)";
constexpr std::string_view kSuspended =
    "could not start yet: a suspended Job that is in no queue of Kueue";
constexpr std::string_view kOlderState = "an earlier state of an object (the newest counts)";

// The most GPUs that pods, or the Jobs of a set, had at one time; all of them where none says when.
std::int64_t GpusAtOnce(const std::vector<const KubePart*>& parts) {
  std::int64_t most = 0, all = 0;
  for (const KubePart* at : parts) {
    all += at->gpus;
    if (!at->start) continue;
    std::int64_t sum = 0;
    for (const KubePart* part : parts) {
      const bool runs = part->start && *part->start <= *at->start &&
                        (!part->end || *part->end > *at->start || part == at);
      sum += runs ? part->gpus : 0;
    }
    most = std::max(most, sum);
  }
  return most > 0 ? most : all;
}

// The Jobs of a set as if they were one.
KubePart Together(const std::vector<const KubePart*>& jobs) {
  KubePart one = *jobs.front();
  one.name = one.set_name.empty() ? one.owner_name : one.set_name;
  one.owner_name.clear();
  one.gpus = GpusAtOnce(jobs);
  for (const KubePart* job : jobs) {
    one.created = std::min(one.created, job->created);
    if (job->start) one.start = std::min(one.start.value_or(*job->start), *job->start);
    if (job->end && one.end) one.end = std::max(*one.end, *job->end);
    if (!job->end) one.end.reset();
    one.parts_of_gpus = one.parts_of_gpus || job->parts_of_gpus;
    one.time_limit = std::max(one.time_limit, job->time_limit);
    const bool worse = one.outcome == Outcome::kPassed || job->outcome == Outcome::kFailed;
    if (worse) one.outcome = job->outcome;
  }
  return one;
}

// The part in whose place the job stands; the others are counted with it.
const KubePart* PartOfJob(const KubeGroup& group) {
  if (!group.jobs.empty() && !group.set) return group.jobs.front();
  if (!group.workloads.empty()) return group.workloads.front();
  return group.jobs.empty() ? group.pods.front() : group.jobs.front();
}

class KubeJobs {
 public:
  explicit KubeJobs(TraceBuilder& builder) : builder_(builder) {}

  std::optional<Job> Make(const KubeGroup& group) {
    const KubePart* const workload = group.workloads.empty() ? nullptr : group.workloads.front();
    std::optional<KubePart> together;
    const KubePart* job_object = nullptr;
    if (!group.set && !group.jobs.empty()) job_object = group.jobs.front();
    if (group.set && workload == nullptr) job_object = &together.emplace(Together(group.jobs));
    const KubePart& first = job_object != nullptr ? *job_object : *PartOfJob(group);
    Job job;
    job.submit = first.created;
    std::optional<Seconds> start, end;
    bool all_ended = true;
    bool parts = first.parts_of_gpus;
    std::int64_t gpus_of_pod = first.gpus_of_pod;
    for (const KubePart* pod : group.pods) {
      gpus_of_pod = std::max(gpus_of_pod, pod->gpus_of_pod);
      if (job_object == nullptr) job.submit = std::min(job.submit, pod->created);
      if (pod->start) start = std::min(start.value_or(*pod->start), *pod->start);
      if (pod->end) end = std::max(end.value_or(*pod->end), *pod->end);
      all_ended = all_ended && pod->outcome != Outcome::kUnreported;
      parts = parts || pod->parts_of_gpus;
    }
    const std::int64_t gpus = job_object != nullptr ? first.gpus
                              : workload != nullptr ? workload->gpus
                                                    : GpusAtOnce(group.pods);
    if (gpus == 0) return builder_.Drop(parts ? kPartsOfGpus : kNoGpus);
    if (gpus > kMostGpus) {
      throw RowError(fmt::format("gpus must be from 1 to {}", kMostGpus), std::to_string(gpus),
                     builder_.place());
    }
    if (parts) builder_.Adjust(kPartsBeside);
    job.gpus = static_cast<GpuCount>(gpus);
    // Without pods: Kueue's admission, else what the Job's controller calls its start.
    const bool of_pods = start.has_value();
    if (!start && workload != nullptr) start = workload->start;
    if (!start && job_object != nullptr && (group.pods.empty() || all_ended)) {
      start = job_object->start;
      if (start) builder_.Adjust("no pods in the file: waiting for nodes counts as run time");
    }
    const KubePart* const said = job_object != nullptr ? job_object : workload;
    if (said != nullptr && said->end) {
      end = said->end;
    } else if (said != nullptr || !all_ended) {
      end.reset();
    }
    job.outcome = said != nullptr ? said->outcome : group.pods.back()->outcome;
    const bool over = end || (said == nullptr ? all_ended : job.outcome != Outcome::kUnreported);
    if (over && !start) return builder_.Drop(kNeverStarted);
    if (over && !end) return builder_.Drop(kNotEnded);
    if (end && *end <= *start) return builder_.Drop(kNoRunTime);
    if (end) {
      job.duration = *end - *start;
    } else {
      job.outcome = start ? Outcome::kRunning : Outcome::kPending;
      const bool queued = workload != nullptr || !first.queue.empty();
      if (!start && first.suspended && !queued) return builder_.Drop(kSuspended);
    }
    if (first.max_gpus > 0 && !group.set) Resized(group, end, &job);
    // A Job's own start says nothing of the wait for nodes, but where it runs yet.
    const bool waited = of_pods || workload != nullptr || !end;
    if (start && waited) job.recorded_wait = builder_.WaitFrom(job.submit, *start);
    job.priority = first.priority;
    job.user_estimate =
        first.time_limit > 0 || workload == nullptr ? first.time_limit : workload->time_limit;
    Name(group, first, workload, &job);
    job.id = IdOf(group, first);
    if (gpus_of_pod > 1) {
      builder_.report().gpus_on_one_node[job.id] = static_cast<GpuCount>(gpus_of_pod);
    }
    return job;
  }

 private:
  // Of a Job that is resized while it runs: what it got, at the GPUs that it asks for.
  void Resized(const KubeGroup& group, const std::optional<Seconds>& end, Job* job) {
    const KubePart& asked = *group.jobs.front();
    job->min_gpus = static_cast<GpuCount>(std::min(asked.min_gpus, asked.gpus));
    job->max_gpus = static_cast<GpuCount>(std::max(asked.max_gpus, asked.gpus));
    if (!end) return;
    double gpu_seconds = 0;
    for (const KubePart* pod : group.pods) {
      if (!pod->start) continue;
      const Seconds until = std::min(*end, pod->end.value_or(*end));
      gpu_seconds += static_cast<double>(pod->gpus) * std::max(0.0, until - *pod->start);
    }
    if (gpu_seconds <= 0) return;
    job->duration = gpu_seconds / job->gpus;
    builder_.Adjust("resized by allot: GPU-seconds of the pods in the file by the GPUs asked for");
  }

  void Name(const KubeGroup& group, const KubePart& first, const KubePart* workload, Job* job) {
    std::string queue = first.queue, user = first.user, type = first.type;
    if (queue.empty() && workload != nullptr) queue = workload->queue;
    for (const auto* list : {&group.jobs, &group.pods}) {
      for (const KubePart* part : *list) {
        if (user.empty()) user = part->user;
      }
    }
    Workload& names = builder_.workload();
    job->tenant = names.tenants.Intern(first.name_space + (queue.empty() ? "" : "/" + queue));
    job->user = names.users.Intern(user);
    if (first.owner_kind == "CronJob") job->group = names.groups.Intern(first.owner_name);
    if (!first.model.empty()) job->group = names.groups.Intern(first.model);
    job->gpu_types = names.gpu_types.Intern(type);
  }

  // Of the controller where it is known; a name may be used again when its object was deleted.
  std::string IdOf(const KubeGroup& group, const KubePart& first) {
    const bool whole = !group.jobs.empty() && !group.set;
    const bool pods_only = group.jobs.empty() && group.workloads.empty();
    std::string name = first.name;
    const bool of_pods = first.owner_kind == "Pod" && group.pods.size() > 1;
    if (!whole && !first.owner_name.empty() && !of_pods) name = first.owner_name;
    if (pods_only && !first.set_name.empty()) name = first.set_name;
    std::string id = first.name_space + (first.name_space.empty() ? "" : "/") + name;
    const int uses = ++uses_[id];
    if (uses == 1) return id;
    builder_.Adjust("a name that was used again");
    return fmt::format("{}#{}", id, uses);
  }

  TraceBuilder& builder_;
  std::map<std::string, int> uses_;  // of an id
};

std::string_view CountedWith(const KubePart& part) {
  if (part.kind == "Pod") return kPodOfJob;
  return part.kind == "Job" ? kJobOfSet : kWorkloadOfJob;
}

Workload ReadKubernetes(std::string_view text, const std::string& path, const ReadOptions& options,
                        ReadReport* report) {
  TraceBuilder builder(path, options, report);
  std::deque<KubePart> parts;
  ForEachKubernetesObject(text, path, kKubectlAdvice, [&](int line, const auto& parse) {
    builder.Part(line, [&] {
      KubePart part = ReadKubePart(parse(), builder.place());
      part.line = line;
      for (const auto& time : {std::optional(part.created), part.start, part.end}) {
        if (part.counts() && time) builder.Saw(*time);
      }
      if (part.counts()) {
        parts.push_back(std::move(part));
      } else {
        builder.Drop("neither a Job, a pod nor a Kueue Workload");
      }
    });
  });
  const auto drop = [&](const KubePart& part, std::string_view reason) {
    builder.Whole(part.line, [&] { return builder.Drop(reason); });
  };
  std::vector<const KubePart*> older;
  const auto newest = NewestStates(parts, &older);
  for (const KubePart* part : older) drop(*part, kOlderState);
  KubeJobs jobs(builder);
  for (const KubeGroup& group : GroupKubeParts(newest)) {
    const KubePart* const itself = PartOfJob(group);
    for (const auto* list : {&group.jobs, &group.pods, &group.workloads}) {
      for (const KubePart* part : *list) {
        if (part != itself) drop(*part, CountedWith(*part));
      }
    }
    builder.Whole(itself->line, [&] { return jobs.Make(group); });
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
