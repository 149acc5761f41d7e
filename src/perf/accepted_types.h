#pragma once
// Which GPU types of a cluster jobs accept, by the names in Workload::gpu_types. Asked by
// TableCache, by --oversized, by the load by type and by what-if.

#include <string>
#include <unordered_map>
#include <vector>

#include "perf/gpu_type_spec.h"
#include "workload/gpu_type_name.h"
#include "workload/workload.h"

namespace allot {

class AcceptedTypes {
 public:
  explicit AcceptedTypes(const std::vector<GpuTypeSpec>& types);

  // By type of the cluster: whether a job with this text may run there. The text is names joined by
  // '|', each as FindGpuTypes reads it; "" accepts every type, and a type without a name is
  // accepted by every job. What is returned stays as long as this object; asked once for each text.
  const std::vector<bool>& Of(const std::string& names);
  // Whether it accepts none of them.
  bool None(const std::string& names);
  // DataError where some jobs accept none of them: it names their types, how many jobs ask for
  // each, and what the cluster has.
  void RequireOne(const Workload& workload);

 private:
  std::vector<KnownGpuType> known_;
  std::unordered_map<std::string, std::vector<bool>> accepted_;  // by text
};

}  // namespace allot
