#include "perf/job_room.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace allot {

Resources HostDemandPerGpu(const Job& job, std::span<const GpuTypeSpec> types) {
  constexpr double kMbPerGb = 1024;
  Resources demand;
  for (const GpuTypeSpec& type : types) {
    if (type.limits_memory) {
      demand.memory_mb =
          static_cast<std::int64_t>(std::ceil(double{job.memory_gb} * kMbPerGb / job.gpus));
    }
    if (type.limits_cpus) {
      demand.cpus = static_cast<std::int32_t>(std::floor(double{job.cpus} / job.gpus));
    }
  }
  return demand;
}

GpuCount RoomFor(const Resources& per_gpu, const GpuTypeSpec& type) {
  if (type.nodes.empty() || per_gpu == Resources{}) return type.gpus;
  std::int64_t room = 0;
  for (const GpuTypeSpec::Nodes& nodes : type.nodes) {
    std::int64_t gpus = nodes.each.gpus;
    if (per_gpu.memory_mb > 0) gpus = std::min(gpus, nodes.each.memory_mb / per_gpu.memory_mb);
    if (per_gpu.cpus > 0) gpus = std::min<std::int64_t>(gpus, nodes.each.cpus / per_gpu.cpus);
    room += gpus * nodes.count;
  }
  return static_cast<GpuCount>(room);
}

std::string HostDemandInWords(const Resources& demand) {
  std::string text;
  if (demand.memory_mb > 0) {
    text = fmt::format("{:.6g} GB of host memory", static_cast<double>(demand.memory_mb) / 1024);
  }
  if (demand.cpus > 0) {
    text += fmt::format("{}{} CPU{}", text.empty() ? "" : " and ", demand.cpus,
                        demand.cpus == 1 ? "" : "s");
  }
  return text;
}

}  // namespace allot
