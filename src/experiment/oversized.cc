#include "experiment/oversized.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/counted.h"
#include "core/error.h"
#include "core/strings.h"
#include "perf/accepted_types.h"
#include "perf/job_room.h"
#include "perf/throughput_model.h"

namespace allot {
namespace {

// The most GPUs of one accepted type that a job can have. 0 if it accepts none, or no node has the
// host memory and CPUs.
struct Room {
  GpuCount gpus = 0;        // regardless of host memory and CPUs
  GpuCount with_hosts = 0;  // with enough host memory and CPUs
};

Room RoomIn(std::span<const GpuTypeSpec> types, const Job& job, const std::vector<bool>& accepted) {
  const Resources per_gpu = HostDemandPerGpu(job, types);
  Room most;
  for (std::size_t t = 0; t < types.size(); ++t) {
    const GpuTypeSpec& type = types[t];
    if (!accepted[t] || (type.memory_gb > 0 && type.memory_gb < job.gpu_memory_gb)) continue;
    most.gpus = std::max(most.gpus, type.gpus);
    most.with_hosts = std::max(most.with_hosts, RoomFor(per_gpu, type));
  }
  return {std::min(most.gpus, kMaxGpusPerJob), std::min(most.with_hosts, kMaxGpusPerJob)};
}

// " asks for 8 GPUs of type 'a100', there are 4".
std::string AskedAndThere(const Job& job, const std::string& names, const Room& room,
                          std::span<const GpuTypeSpec> types) {
  const std::string of_type = names.empty() ? "" : fmt::format(" of type '{}'", names);
  if (room.gpus == 0) {
    double most = 0;
    for (const GpuTypeSpec& type : types) most = std::max(most, double{type.memory_gb});
    return fmt::format(" asks for GPUs{} with {} GB, the largest have {} GB", of_type,
                       job.gpu_memory_gb, most);
  }
  return fmt::format(" asks for {}{}, there are {}{}", Counted(job.gpus, "GPU"), of_type,
                     job.gpus > room.gpus ? room.gpus : room.with_hosts,
                     job.gpus > room.gpus ? "" : " with the host memory and CPUs that it needs");
}

// The GPUs of the largest node with an accepted type.
GpuCount LargestNode(const ClusterSpec& cluster, const std::vector<bool>& accepted) {
  GpuCount most = 0;
  for (const Node& node : cluster.nodes()) {
    if (accepted[static_cast<std::size_t>(node.type)]) most = std::max(most, node.capacity.gpus);
  }
  return most;
}

// The memory and CPUs per GPU stay the same.
void Clip(GpuCount most, Job* job) {
  const double longer = static_cast<double>(job->gpus) / most;
  job->duration *= longer;
  job->user_estimate *= longer;
  job->memory_gb = static_cast<float>(job->memory_gb / longer);
  job->cpus = static_cast<float>(job->cpus / longer);
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

bool AnyOversized(const Workload& workload, const ClusterSpec& cluster) {
  const std::vector<GpuTypeSpec> types = cluster.type_specs();
  AcceptedTypes accepted(types);
  return std::any_of(workload.jobs.begin(), workload.jobs.end(), [&](const Job& job) {
    const std::vector<bool>& suited = accepted.Of(workload.gpu_types[job.gpu_types]);
    return job.gpus > RoomIn(types, job, suited).with_hosts;
  });
}

void FitToCluster(Oversized oversized, const ClusterSpec& cluster, Workload* workload,
                  ReadReport* report) {
  if (oversized == Oversized::kError && report->gpus_on_one_node.empty()) return;
  const std::vector<GpuTypeSpec> types = cluster.type_specs();
  AcceptedTypes accepted(types);
  std::vector<Job> kept;
  kept.reserve(workload->jobs.size());
  for (Job& job : workload->jobs) {
    const std::string& names = workload->gpu_types[job.gpu_types];
    const std::vector<bool>& suited = accepted.Of(names);
    const Room room = RoomIn(types, job, suited);
    const bool fits = job.gpus <= room.with_hosts;
    const std::string place =
        job.line > 0 ? fmt::format("{}:{}", workload->source, job.line) : "job " + job.id;
    const double gpu_seconds = job.gpus * workload->RecordedRunTime(job);
    const auto pod = report->gpus_on_one_node.find(job.id);
    const GpuCount largest =
        pod == report->gpus_on_one_node.end() ? kMaxGpusPerJob : LargestNode(cluster, suited);
    if (fits && pod != report->gpus_on_one_node.end() && pod->second > largest) {
      const std::string what = fmt::format(" asks for {} in a pod, the largest node has {}",
                                           Counted(pod->second, "GPU"), largest);
      if (oversized != Oversized::kDrop) {
        throw DataError(
            "a pod must fit a node of the cluster: {}{}; --oversized drop leaves such "
            "jobs out",
            place, what);
      }
      report->Drop(kNodesAreTooSmall, place + what, gpu_seconds);
      continue;
    }
    if (!fits && oversized == Oversized::kDrop) {
      if (accepted.None(names)) {
        report->LackType(names, gpu_seconds / 3600);
        report->Drop(fmt::format("asks for GPUs of type '{}', which the cluster lacks "
                                 "(--oversized drop; --type-map gives it another name)",
                                 names),
                     place, gpu_seconds);
      } else {
        report->Drop(room.gpus == 0         ? kMemoryIsLacking
                     : job.gpus > room.gpus ? kRoomIsLacking
                                            : kHostsAreTooSmall,
                     place + AskedAndThere(job, names, room, types), gpu_seconds);
      }
      continue;
    }
    if (!fits && oversized == Oversized::kClip && room.with_hosts > 0) {
      report->Clip(
          job.gpus > room.gpus
              ? "asks for more GPUs than the cluster has: gets all of a type, and runs longer"
              : "asks for more host memory or CPUs than the nodes of the cluster have: gets as "
                "many "
                "GPUs as have them, and runs longer",
          place);
      Clip(room.with_hosts, &job);
    }
    kept.push_back(std::move(job));
  }
  if (kept.empty()) {
    const std::string lacking = LackingTypesInWords(report->lacking_types);
    throw DataError("at least one job must fit the cluster, got 0 of {} that fit {} of '{}'{}",
                    workload->jobs.size(), cluster.ToString(), workload->name,
                    lacking.empty() ? ""
                                    : fmt::format("; it lacks the GPU types {}: --type-map "
                                                  "THEIRS=OURS gives types other names",
                                                  lacking));
  }
  workload->jobs = std::move(kept);
}

}  // namespace allot
