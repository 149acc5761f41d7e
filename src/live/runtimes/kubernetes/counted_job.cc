#include "live/runtimes/kubernetes/counted_job.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/strings.h"
#include "live/runtimes/kubernetes/managed_request.h"

namespace allot {
namespace {

constexpr const char* kFollow = "follow";
constexpr const char* kStay = "stay";

std::string AnnotationOf(const char* option) { return std::string(kube_mark::kPrefix) + option; }

// Whether spec.completions is changed with spec.parallelism: decided once, and written down, as the
// two may also be equal by chance.
bool CompletionsFollow(const ManagedJob& job) {
  const CountedSpec& counted = *job.counted;
  if (!counted.completions_mark.empty()) return counted.completions_mark == kFollow;
  return counted.indexed && counted.completions == job.parallelism;
}

void CheckCompletions(const ManagedJob& job, const RuntimeJob& request) {
  const CountedSpec& counted = *job.counted;
  const std::string& mark = counted.completions_mark;
  if (!mark.empty() && mark != kFollow && mark != kStay) {
    throw DataError("annotations: '{}' must be follow or stay, got '{}'",
                    AnnotationOf(kube_mark::kCompletions), mark);
  }
  const bool follow = CompletionsFollow(job);
  if (follow && !counted.indexed) {
    throw DataError("spec.completionMode must be Indexed where completions follow parallelism");
  }
  if (!follow && counted.completions >= 0 && counted.completions < request.max_gpus) {
    throw DataError(
        "spec.completions must be at least 'allot.dev/max' {}, as no more pods than that run, "
        "got {}",
        request.max_gpus, counted.completions);
  }
}

}  // namespace

void ReadCountedRequest(const ManagedJob& job, const std::string& gpu,
                        const std::vector<std::string>& types, RuntimeJob* request) {
  const double each = ReadJobRequest(job, gpu, request);
  request->mode = ResizeMode::kCount;
  if (each != 1) {
    throw DataError(
        "template: a pod of a job that is resized by parallelism must ask for 1 {}, got {}", gpu,
        each);
  }
  if (!job.counted->labelled) {
    throw DataError("template: its labels must name '{}', by which allot finds the pods",
                    kube_mark::kJob);
  }
  if (types.size() > 1 &&
      std::find(types.begin(), types.end(), request->gpu_types) == types.end()) {
    throw DataError(
        "annotations: 'allot.dev/types' must name one type of {}, and the template's nodeSelector "
        "the same, as Kubernetes chooses the nodes, got '{}'",
        Join(types, ", "), request->gpu_types);
  }
  CheckCompletions(job, *request);
}

std::vector<std::int64_t> WorkersOf(const ManagedJob& job) {
  std::vector<std::int64_t> numbers;
  if (!job.counted->written) {
    numbers.resize(static_cast<std::size_t>(std::max(job.size(), 0)));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  for (const std::string_view part : Split(*job.counted->written, ',')) {
    if (part.empty()) continue;
    const auto number = ParseInteger(part);
    if (!number || *number < 0) {
      throw DataError("annotations: '{}' must be numbers of workers joined by ',', got '{}'",
                      AnnotationOf(kube_mark::kWorkers), *job.counted->written);
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<GpuCount> MostPods(const ManagedJob& job, GpuCount succeeded, GpuCount live) {
  const CountedSpec& counted = *job.counted;
  if (CompletionsFollow(job)) return std::nullopt;
  const std::int64_t done = std::max<std::int64_t>(counted.succeeded, succeeded);
  if (counted.completions < 0) return done > 0 ? std::optional(live) : std::nullopt;
  // More than the API's 32 bits are not asked for.
  return static_cast<GpuCount>(std::clamp<std::int64_t>(counted.completions - done, 0, 1 << 30));
}

std::string ResizedByAnother(const ManagedJob& job) {
  if (!job.counted->written) return "";
  const std::size_t ours = WorkersOf(job).size();
  if (job.suspended || job.parallelism == static_cast<GpuCount>(ours)) return "";
  const std::string& who = job.counted->resized_by;
  return fmt::format(
      "spec.parallelism was set to {} by allot and is {} now, by '{}': allot leaves the Job alone "
      "until its annotation {} is removed",
      ours, job.parallelism, who.empty() ? "somebody else" : who,
      AnnotationOf(kube_mark::kWorkers));
}

std::string SuspendedByAnother(const ManagedJob& job) {
  if (!job.suspended) return "";
  if (job.counted->queued) return "Kueue has not admitted it (spec.suspend)";
  const bool by_us = !job.counted->written || WorkersOf(job).empty();
  return by_us ? "" : "suspended (spec.suspend)";
}

nlohmann::json SizePatch(const ManagedJob& job, std::uint64_t version,
                         const std::vector<std::int64_t>& workers) {
  std::string text;
  for (const std::int64_t worker : workers) {
    text += text.empty() ? "" : ",";
    text += std::to_string(worker);
  }
  const bool follow = CompletionsFollow(job);
  nlohmann::json spec = nlohmann::json::object();
  if (!workers.empty()) {
    spec["parallelism"] = workers.size();
    if (follow) spec["completions"] = workers.size();
  }
  if (job.suspended != workers.empty()) spec["suspend"] = workers.empty();
  return {{"metadata",
           {{"resourceVersion", std::to_string(version)},
            {"annotations",
             {{AnnotationOf(kube_mark::kWorkers), text},
              {AnnotationOf(kube_mark::kCompletions), follow ? kFollow : kStay}}}}},
          {"spec", std::move(spec)}};
}

}  // namespace allot
