#pragma once
// How the GPUs of each type of a cluster were asked for and used in a run, and how long the jobs
// waited that need one type: part of a run's summary where the cluster has several types.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/allocation_note.h"
#include "cluster/cluster_spec.h"
#include "cluster/job_record.h"
#include "workload/workload.h"

namespace allot {

struct TypeUse {
  std::string type;
  GpuCount gpus = 0;
  double demand = kUnknown;           // LoadByType (perf/load_by_type.h)
  double gpu_utilisation = kUnknown;  // as RunSummary's, of these GPUs
  std::int64_t jobs = 0;              // that accept no other type of the cluster
  double avg_queueing_s = kUnknown;   // of those that started: first start - submit

  bool operator==(const TypeUse&) const = default;
};

// By type; empty for a cluster of one type. Without notes of who held what, use is unknown.
std::vector<TypeUse> UseByType(const ClusterSpec& cluster, const Workload& workload,
                               std::span<const JobRecord> records,
                               std::span<const AllocationNote> notes);

nlohmann::ordered_json ToJson(const std::vector<TypeUse>& types);
// DataError naming `where` and the key.
std::vector<TypeUse> TypeUseFromJson(const nlohmann::ordered_json& json, std::string_view where);

}  // namespace allot
