#include "live/runtimes/kubernetes/managed_request.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "clients/kubernetes/pod.h"
#include "core/error.h"
#include "core/strings.h"
#include "live/runtimes/job_options.h"

namespace allot {
namespace {

constexpr std::size_t kLongestJobName = 52;  // a pod's name has 63 characters, of which -wNNNNNNNNN

double GpusOf(const nlohmann::json& container, const std::string& gpu) {
  return static_cast<double>(GpusOfContainer(container, {&gpu, 1}).value_or(0));
}

// The daemon chooses the node itself, and cannot see other people's rules for it.
void CheckNoNodeRules(const nlohmann::json& pod) {
  for (const char* key : {"nodeSelector", "nodeName"}) {
    if (!pod.contains(key) || pod.at(key).empty()) continue;
    throw DataError(
        "template: '{}' must not be set, as allot chooses the node (GPU types: annotation "
        "allot.dev/types), got {}",
        key, pod.at(key).dump());
  }
  const auto affinity = pod.find("affinity");
  if (affinity != pod.end() && affinity->is_object() && affinity->contains("nodeAffinity")) {
    throw DataError(
        "template: 'nodeAffinity' must not be set, as allot chooses the node (GPU types: "
        "annotation allot.dev/types), got {}",
        affinity->at("nodeAffinity").dump());
  }
}

}  // namespace

std::string NameOfManagedJob(const ManagedJob& job) {
  return fmt::format("{}.{}.{}", job.space, job.name, job.uid.substr(0, 8));
}

std::size_t GpuContainer(const nlohmann::json& pod, const std::string& gpu) {
  const nlohmann::json& containers = pod.at("containers");
  std::vector<std::size_t> found;
  for (std::size_t c = 0; c < containers.size(); ++c) {
    if (GpusOf(containers[c], gpu) > 0) found.push_back(c);
  }
  if (found.size() != 1) {
    throw DataError("template: exactly one container must ask for GPUs (limits: {}), got {}", gpu,
                    found.size());
  }
  return found.front();
}

double ReadJobRequest(const ManagedJob& job, const std::string& gpu, RuntimeJob* request) {
  std::map<std::string, std::string> given = job.options;
  if (const auto priority = given.find("priority"); priority != given.end()) {
    const auto value = ParseNumber(priority->second);
    if (!value) {
      throw DataError("annotations: 'allot.dev/priority' must be a number, got '{}'",
                      priority->second);
    }
    request->priority = *value;
    given.erase(priority);
  }
  if (job.counted) given.erase("resize");
  for (const auto& [key, value] : given) {
    const std::vector<std::string>& keys = JobOptionKeys();
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      throw DataError("annotations: unknown key 'allot.dev/{}'{}", key, DidYouMean(key, keys));
    }
  }
  if (!given.empty()) ReadJobOptions(given, "annotations", kube_mark::kPrefix, request);
  const nlohmann::json& pod = job.pod->at("spec");
  return GpusOf(pod.at("containers")[GpuContainer(pod, gpu)], gpu);
}

void ReadManagedRequest(const ManagedJob& job, const std::string& gpu, RuntimeJob* request) {
  if (job.name.size() > kLongestJobName) {
    throw DataError("the name of a Job must have at most {} characters for allot, '{}' has {}",
                    kLongestJobName, job.name, job.name.size());
  }
  const auto resize = job.options.find("resize");
  if (resize != job.options.end() && resize->second == kube_mark::kResize) {
    throw DataError(
        "spec.managedBy must not be set where 'allot.dev/resize' is {}, as Kubernetes' own "
        "controller runs such a Job, got '{}'",
        kube_mark::kResize, kube_mark::kManager);
  }
  CheckNoNodeRules(job.pod->at("spec"));
  const double each = ReadJobRequest(job, gpu, request);
  if (job.options.size() == job.options.count("priority")) {
    // Of one size, as Kubernetes itself would run it.
    request->mode = ResizeMode::kRestart;
    const double all = each * std::max(job.parallelism, 1);
    if (all != std::floor(all) || all > kMostGpusAsked) {
      throw DataError(
          "template: GPUs x parallelism must be a whole number of at most {}, got {} x {}",
          kMostGpusAsked, each, job.parallelism);
    }
    request->requested = static_cast<GpuCount>(all);
    request->min_gpus = request->max_gpus = request->requested;
    return;
  }
  if (request->mode == ResizeMode::kHot && each != 1) {
    throw DataError(
        "template: a worker of a job that is resized while it trains must ask for 1 {}, got {}",
        gpu, each);
  }
}

}  // namespace allot
