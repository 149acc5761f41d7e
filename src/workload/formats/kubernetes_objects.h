#pragma once
// What the readers of kubectl's JSON take from one Job, pod or Kueue Workload.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "workload/job.h"

namespace allot {

// Of an object of another kind: kind, name and uid only.
struct KubePart {
  int line = 0;
  std::string kind, name_space, name, uid;
  std::string owner_kind, owner_name, owner_uid;  // the controller, else the last owner
  std::string set_kind, set_name;  // what labels name above the owner: JobSet, RayJob, pod group
  std::int64_t version = 0;        // metadata.resourceVersion; 0: not said
  std::string queue, user, type;
  Seconds created = 0;
  std::optional<Seconds> start, end;  // of what ran; of Jobs: as the Job says
  std::int64_t gpus = 0;              // whole ones, all pods at once
  std::int64_t gpus_of_pod = 0;       // of them, those of one pod
  bool parts_of_gpus = false;         // asks for MIG slices or shared GPUs, too
  bool suspended = false;             // a Job that its user or its queue keeps from starting
  double priority = 0;
  Seconds time_limit = 0;  // 0: none
  Outcome outcome = Outcome::kUnreported;
  // Of a Job that allot resizes (docs/kubernetes.md): its limits, 0 of others, and its model.
  // `gpus` is then what it asks for.
  std::int64_t min_gpus = 0, max_gpus = 0;
  std::string model;

  bool counts() const { return kind == "Job" || kind == "Pod" || kind == "Workload"; }
};

// RowError with `place` for values that the API would not give.
KubePart ReadKubePart(const nlohmann::json& object, const std::string& place);

// Whether `a` is a later state of the same object, or as late.
bool IsAtLeastAsNew(const KubePart& a, const KubePart& b);

}  // namespace allot
