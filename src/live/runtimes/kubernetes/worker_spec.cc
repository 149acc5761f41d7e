#include "live/runtimes/kubernetes/worker_spec.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "live/runtimes/kubernetes/managed_request.h"
#include "live/runtimes/kubernetes/pod_identity.h"

namespace allot {
namespace {

constexpr const char* kMasterPort = "29500";  // torch.distributed's own default

nlohmann::json OwnedBy(const ManagedJob& job) {
  return {{{"apiVersion", "batch/v1"},
           {"kind", "Job"},
           {"name", job.name},
           {"uid", job.uid},
           {"controller", true},
           {"blockOwnerDeletion", true}}};
}

std::string NumberOf(const std::string& worker) { return worker.substr(worker.rfind('.') + 1); }

// Ours replace the template's, but for the folder that the job keeps its checkpoint in.
void AddEnvironment(const ManagedJob& job, const WorkerSpec& spec, nlohmann::json* container) {
  const int gpus = std::popcount(spec.request.gpus);
  std::string numbers = "0";  // inside of a container GPUs are counted from 0
  for (int gpu = 1; gpu < gpus; ++gpu) numbers += fmt::format(",{}", gpu);
  std::vector<std::pair<std::string, std::string>> ours = {
      {"ALLOT_JOB_ID", spec.job},
      {"ALLOT_WORKER_ID", spec.request.worker},
      {"ALLOT_DAEMON", spec.daemon},
      {"ALLOT_LOCAL_GPU_ID", "0"},
      {"ALLOT_ACCESSIBLE_GPUS", numbers},
      {"ALLOT_GPU_TYPE", spec.gpu_type.empty() ? "gpu" : spec.gpu_type},
      {"ALLOT_NODE", spec.request.node}};
  if (spec.checkpoint_every) {
    ours.emplace_back("ALLOT_CHECKPOINT_EVERY", fmt::format("{:.0f}", *spec.checkpoint_every));
  }
  if (spec.team > 0) {
    const auto& pod = job.pod->at("spec");
    const std::string first = WorkerPodName(job, spec.first);
    ours.emplace_back("ALLOT_RANK", std::to_string(spec.rank));
    ours.emplace_back("ALLOT_WORLD_SIZE", std::to_string(spec.team));
    ours.emplace_back("ALLOT_MASTER_ADDR",
                      spec.team == 1
                          ? "127.0.0.1"
                          : fmt::format("{}.{}.{}", first, pod.value("subdomain", ""), job.space));
    ours.emplace_back("ALLOT_MASTER_PORT", kMasterPort);
    if (spec.request.plan) ours.emplace_back("ALLOT_PLAN", *spec.request.plan);
  }
  nlohmann::json environment = nlohmann::json::array();
  bool has_folder = false;
  for (const nlohmann::json& entry : container->value("env", nlohmann::json::array())) {
    const std::string name = entry.value("name", "");
    has_folder = has_folder || name == "ALLOT_RUN_DIR";
    const bool replaced =
        name == "ALLOT_TOKEN" ||
        std::any_of(ours.begin(), ours.end(), [&](const auto& one) { return one.first == name; });
    if (!replaced) environment.push_back(entry);
  }
  if (!has_folder) ours.emplace_back("ALLOT_RUN_DIR", "/tmp");
  for (const auto& [name, value] : ours) environment.push_back({{"name", name}, {"value", value}});
  environment.push_back(
      {{"name", "ALLOT_TOKEN"},
       {"valueFrom", {{"secretKeyRef", {{"name", spec.secret}, {"key", "token"}}}}}});
  (*container)["env"] = std::move(environment);
}

void Pin(const std::string& node, nlohmann::json* pod) {
  (*pod)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = {
      {"nodeSelectorTerms",
       {{{"matchFields", {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}}}}}}}};
}

}  // namespace

std::string WorkerPodName(const ManagedJob& job, const std::string& worker) {
  return fmt::format("{}-w{}", job.name, NumberOf(worker));
}

nlohmann::json MakeWorkerPod(const ManagedJob& job, const WorkerSpec& spec) {
  nlohmann::json pod = job.pod->at("spec");
  nlohmann::json& container = pod.at("containers")[GpuContainer(pod, spec.gpu)];
  const std::string count = std::to_string(std::popcount(spec.request.gpus));
  container["resources"]["limits"][spec.gpu] = count;
  if (container["resources"].contains("requests")) {
    container["resources"]["requests"][spec.gpu] = count;
  }
  AddEnvironment(job, spec, &container);
  if (spec.identity) GiveIdentity(&pod, &container);
  Pin(spec.request.node, &pod);
  pod["restartPolicy"] = "Never";  // the daemon decides what is started again
  const std::string name = WorkerPodName(job, spec.request.worker);
  if (pod.contains("subdomain")) pod["hostname"] = name;
  for (const std::string& key : spec.tolerated) {
    pod["tolerations"].push_back({{"key", key}, {"operator", "Exists"}});
  }

  const nlohmann::json meta = job.pod->value("metadata", nlohmann::json::object());
  nlohmann::json labels = meta.value("labels", nlohmann::json::object());
  labels[kube_mark::kJob] = job.name;
  nlohmann::json notes = meta.value("annotations", nlohmann::json::object());
  notes[kube_mark::kWorker] = spec.request.worker;
  notes[kube_mark::kGpus] = fmt::format("{:#x}", spec.request.gpus);
  notes[kube_mark::kNode] = spec.request.node;
  if (spec.team > 0)
    notes[kube_mark::kTeam] = fmt::format("{}/{}", NumberOf(spec.first), spec.team);
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", name},
            {"namespace", job.space},
            {"labels", std::move(labels)},
            {"annotations", std::move(notes)},
            {"ownerReferences", OwnedBy(job)}}},
          {"spec", std::move(pod)}};
}

nlohmann::json MakeTokenSecret(const ManagedJob& job, const std::string& name,
                               const std::string& token) {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata",
           {{"name", name},
            {"namespace", job.space},
            {"labels", {{kube_mark::kJob, job.name}}},
            {"ownerReferences", OwnedBy(job)}}},
          {"immutable", true},
          {"stringData", {{"token", token}}}};
}

nlohmann::json MakeJobEvent(const ManagedJob& job, const JobEvent& event, const std::string& time) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const char c : job.uid + event.reason + event.message)
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", {{"name", fmt::format("{}.{:016x}", job.name, hash)}, {"namespace", job.space}}},
      {"involvedObject",
       {{"apiVersion", "batch/v1"},
        {"kind", "Job"},
        {"name", job.name},
        {"namespace", job.space},
        {"uid", job.uid}}},
      {"type", event.type},
      {"reason", event.reason},
      {"message", event.message},
      {"source", {{"component", "allot"}}},
      {"firstTimestamp", time},
      {"lastTimestamp", time},
      {"count", 1}};
}

}  // namespace allot
