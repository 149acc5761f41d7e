#include "experiment/oversized.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

// The most GPUs that a job can have: of one type that it accepts. 0: it accepts none.
GpuCount MostGpusFor(const Job& job, const Workload& workload, const ClusterSpec& cluster) {
  const std::vector<GpuCount> capacity = cluster.type_capacity();
  const std::vector<std::string_view> names = Split(workload.gpu_types[job.gpu_types], '|');
  GpuCount most = 0;
  for (std::size_t type = 0; type < capacity.size(); ++type) {
    const std::string& name = cluster.types()[type];
    const double memory = cluster.gpu_memory_gb(static_cast<GpuTypeIndex>(type));
    const bool accepted = job.gpu_types < 0 || name == kUnnamedGpuType ||
                          std::find(names.begin(), names.end(), name) != names.end();
    const bool room = memory <= 0 || memory >= job.gpu_memory_gb;
    if (accepted && room) most = std::max(most, capacity[type]);
  }
  return std::min(most, kMaxGpusPerJob);
}

void Clip(GpuCount most, Job* job) {
  const double longer = static_cast<double>(job->gpus) / most;
  job->duration *= longer;
  job->user_estimate *= longer;
  job->gpus = most;
  job->min_gpus = std::min(job->min_gpus, most);
  job->max_gpus = std::min(job->max_gpus, most);
}

}  // namespace

Oversized OversizedNamed(const std::string& name) {
  if (name == "error") return Oversized::kError;
  if (name == "drop") return Oversized::kDrop;
  if (name == "clip") return Oversized::kClip;
  throw UsageError("--oversized must be drop, clip or error, got '{}'{}", name,
                   DidYouMean(name, {"drop", "clip", "error"}));
}

void FitToCluster(Oversized oversized, const ClusterSpec& cluster, Workload* workload,
                  ReadReport* report) {
  if (oversized == Oversized::kError) return;
  std::vector<Job> kept;
  kept.reserve(workload->jobs.size());
  for (Job& job : workload->jobs) {
    const GpuCount most = MostGpusFor(job, *workload, cluster);
    const bool fits = job.gpus <= most;
    const std::string place =
        job.line > 0 ? fmt::format("{}:{}", workload->source, job.line) : "job " + job.id;
    if (!fits && oversized == Oversized::kDrop) {
      report->Drop(most == 0 ? kTypeIsLacking : kRoomIsLacking, place);
      continue;
    }
    if (!fits && most > 0) {
      report->Clip("asks for more GPUs than the cluster has: gets all of a type, and runs longer",
                   place);
      Clip(most, &job);
    }
    kept.push_back(std::move(job));
  }
  if (kept.empty()) {
    throw DataError("at least one job must fit the cluster, got 0 of {} that fit {} of '{}'",
                    workload->jobs.size(), cluster.ToString(), workload->name);
  }
  workload->jobs = std::move(kept);
}

}  // namespace allot
